# make serve   set up, build both editions, serve them on http://localhost:8000
# make lab     set up, derive a notebook from every page, open them in JupyterLab (options: LAB="--no-browser")
# make site    set up, build both editions into _site/
# make test    set up, build both editions from scratch, test everything but what takes long
# make test-routes  after make test: what takes long, of the other routes to a reader: Binder, with every notebook run, Colab, the offline book
# make fuzz    after make test: give every public function some thousand inputs of every kind (FUZZ=5000)
# make bench   measure the ratios that the project promises
# make tune    search for the learning rates of the experiments, and store them (minutes on 2 cores); then train anew: make experiments
# make experiments  train everything that the pages draw, anew (under an hour on 2 cores; an interrupted training goes on)
# make offline pack the site into book-offline.zip, which opens without a server
# make picture photograph the READMEs' figure
# make clean   remove what the others made, but for .venv, node_modules and _notebooks

PYTHON ?= python3
PORT ?= 8000
LAB ?=
FUZZ ?= 5000
IN_VENV = .venv/bin/python

.PHONY: serve lab site setup test test-routes fuzz bench tune experiments offline picture clean

serve: site
	@$(IN_VENV) tools/serve.py $(PORT)

lab: setup
	@$(IN_VENV) tools/lab.py $(LAB)

site: setup
	@$(IN_VENV) tools/site.py

setup:
	@$(PYTHON) tools/environment.py

test:
	@$(PYTHON) tools/environment.py test
	@$(IN_VENV) tools/site.py
	@CHROMIUM="$$($(IN_VENV) tools/browser.py)" && export CHROMIUM && PYTHONWARNDEFAULTENCODING=1 OMP_NUM_THREADS=1 $(IN_VENV) -m pytest -n 2 --dist worksteal -m "not routes"

test-routes:
	@$(PYTHON) tools/environment.py test
	@CHROMIUM="$$($(IN_VENV) tools/browser.py)" && export CHROMIUM && OMP_NUM_THREADS=1 $(IN_VENV) -m pytest -n 2 --dist loadfile -m routes -rP

fuzz:
	@$(PYTHON) tools/environment.py test
	@FUZZ=$(FUZZ) OMP_NUM_THREADS=1 $(IN_VENV) -m pytest tests/test_fuzz.py

bench: site
	@$(PYTHON) tools/environment.py test
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/jacobians.py
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/attention.py
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/receptive_field.py
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/influence.py
	@CHROMIUM="$$($(IN_VENV) tools/browser.py)" && export CHROMIUM && \
		$(IN_VENV) benchmarks/slider.py && $(IN_VENV) benchmarks/off_grid.py

tune: setup
	@OMP_NUM_THREADS=1 $(IN_VENV) -m why_attention.tasks.tune

experiments: setup
	@OMP_NUM_THREADS=1 $(IN_VENV) -m why_attention.tasks

offline: site
	@$(IN_VENV) tools/offline.py

picture: site
	@$(PYTHON) tools/environment.py test
	@CHROMIUM="$$($(IN_VENV) tools/browser.py)" && export CHROMIUM && $(IN_VENV) tools/picture.py

clean:
	rm -rf _build _site .cache book-offline.zip # _notebooks stays, for a reader may have written in it
