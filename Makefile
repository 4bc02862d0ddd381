# make serve   set up, serve both editions on http://localhost:8000; what has changed since they were built is built meanwhile
# make lab     set up, derive a notebook from every page, open them in JupyterLab (options: LAB="--no-browser")
# make site    set up, build into _site/ what has changed since it was built
# make preview set up, serve the book while somebody works on it: a page is built again when it is saved, and reloads (EDITIONS=en: one only)
# make check   lint, format and types of Python and JavaScript, and the tests that build, train and open nothing (90 seconds)
# make test    build what has changed, test everything but what takes long
# make test-all     the same, and the sweeps: every setting of every figure, other Pythons, a stranger's five minutes
# make test-routes  after make test: the other routes to a reader: Binder, with every notebook run, Colab, the offline book
# make fuzz    after make test: give every public function some thousand inputs of every kind (FUZZ=5000)
# make bench   measure the ratios that the project promises
# make tune    search for the learning rates of the experiments, and store them (minutes on 2 cores); then train anew: make experiments
# make experiments  train everything that the pages draw, anew (under an hour on 2 cores; an interrupted training goes on)
# make lock    after a change of requirements.txt or pyproject.toml: lock every package that they bring
# make offline pack the site into book-offline.zip, which opens without a server
# make picture photograph the READMEs' figure
# make clean   remove what the others made, but for .venv, node_modules and _notebooks

PYTHON ?= python3
PORT ?= 8000
LAB ?=
EDITIONS ?=
FUZZ ?= 5000
IN_VENV = .venv/bin/python
PYTEST = PYTHONWARNDEFAULTENCODING=1 OMP_NUM_THREADS=1 $(IN_VENV) -m pytest -n 2
WITH_CHROMIUM = CHROMIUM="$$($(IN_VENV) tools/browser.py)" && export CHROMIUM &&

.PHONY: serve lab site preview setup check test test-all test-routes fuzz bench tune experiments lock offline picture clean

serve:
	@$(PYTHON) tools/port.py "$(PORT)"
	@$(PYTHON) tools/set_up.py
	@$(IN_VENV) tools/serve.py $(PORT)

lab: setup
	@$(IN_VENV) tools/lab.py $(LAB)

site: setup
	@$(IN_VENV) tools/site.py

setup:
	@$(PYTHON) tools/set_up.py

preview:
	@$(PYTHON) tools/port.py "$(PORT)"
	@$(PYTHON) tools/set_up.py
	@$(IN_VENV) tools/preview.py $(PORT) $(EDITIONS)

check:
	@$(PYTHON) tools/set_up.py test
	@$(IN_VENV) -m ruff check . && $(IN_VENV) -m ruff format --check .
	@.venv/bin/node node_modules/@biomejs/biome/bin/biome ci --error-on-warnings
	@$(IN_VENV) -m mypy
	@$(PYTEST) --dist worksteal -m "not slow"

test: MARKS = not routes and not sweep
test-all: MARKS = not routes
test test-all:
	@$(PYTHON) tools/set_up.py test
	@$(IN_VENV) tools/site.py
	@$(WITH_CHROMIUM) $(PYTEST) --dist worksteal -m "$(MARKS)"

test-routes:
	@$(PYTHON) tools/set_up.py test
	@$(WITH_CHROMIUM) $(PYTEST) --dist loadfile -m routes -rP

fuzz:
	@$(PYTHON) tools/set_up.py test
	@FUZZ=$(FUZZ) OMP_NUM_THREADS=1 $(IN_VENV) -m pytest tests/test_fuzz.py

bench: site
	@$(PYTHON) tools/set_up.py test
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/jacobians.py
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/attention.py
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/receptive_field.py
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/influence.py
	@OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/interpreter.py
	@$(WITH_CHROMIUM) $(IN_VENV) benchmarks/slider.py && $(IN_VENV) benchmarks/off_grid.py && OMP_NUM_THREADS=1 $(IN_VENV) benchmarks/page_traces.py

tune: setup
	@OMP_NUM_THREADS=1 $(IN_VENV) -m why_attention.tasks.tune

experiments: setup
	@OMP_NUM_THREADS=1 $(IN_VENV) -m why_attention.tasks

lock:
	@$(PYTHON) tools/lock.py

offline: site
	@$(IN_VENV) tools/offline.py

picture: site
	@$(PYTHON) tools/set_up.py test
	@$(WITH_CHROMIUM) $(IN_VENV) tools/picture.py

clean:
	rm -rf _build _site src/why_attention/figures/frames book-offline.zip # _notebooks stays, for a reader may have written in it
