"""Build both editions into _site/: Chinese at /, English at /en/. `python tools/site.py`

Each edition is built afresh by Jupyter Book from the root's _config.yml and _toc.yml, with every warning an error;
_site is exchanged for the new one only when both are whole.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import yaml
from environment import ROOT, VARIABLES
from notebooks import derive
from repository import BRANCH, repository

BUILD = ROOT / "_build"
SITE = ROOT / "_site"
EDITIONS = {"zh": "", "en": "en"}  # edition: its folder in the site


def overlay(below: dict, above: dict) -> dict:
    """Return one tree of settings laid over another."""
    both = dict(below)
    for key, value in above.items():
        both[key] = (
            overlay(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value
        )
    return both


def read(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def settings(edition: str) -> dict:
    """Return an edition's settings: the root's, its own words over them, and every path absolute."""
    config = read(ROOT / "_config.yml")
    own = ROOT / "book" / edition / "_config.yml"
    if own.exists():
        config = overlay(config, read(own))
    config["html"]["favicon"] = str(ROOT / config["html"]["favicon"])
    sphinx = config["sphinx"]
    sphinx["local_extensions"] = {name: str(ROOT / folder) for name, folder in sphinx["local_extensions"].items()}
    for key in ("locale_dirs", "templates_path", "html_static_path"):
        sphinx["config"][key] = [str(ROOT / path) for path in sphinx["config"][key]]
    other = next(folder for name, folder in EDITIONS.items() if name != edition)
    sphinx["config"]["other_edition"] = other or ".."
    # what launch.html asks for: where the notebooks of this edition are in the repository
    here = {"notebooks": f"book/{edition}", "notebooks_branch": BRANCH, "repository": repository()}
    sphinx["config"]["html_context"] |= here
    return config


def contents(edition: str) -> dict:
    """Return an edition's table of contents: the root's, which names the Chinese pages, from the edition's folder."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    return yaml.safe_load(toc.replace("book/zh/", ""))


def run(*commands: list[str]) -> list[int]:
    """Run commands side by side and return their statuses. Where we are ended, so is everything that they have started."""
    processes = [subprocess.Popen(command, cwd=ROOT, env=VARIABLES, start_new_session=True) for command in commands]
    try:
        return [process.wait() for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def build(*editions: str) -> dict[str, Path]:
    """Build editions side by side and return the folder of each one's pages. Exits with a sentence where anything is amiss."""
    statuses = run(*map(prepare, editions))
    built = {edition: BUILD / edition / "_build" / "html" for edition in editions}
    for (edition, pages), status in zip(built.items(), statuses):
        if status != 0:
            sys.exit(f"site: the {edition} edition did not build; _site is as it was.")
        if problems := [*failed_cells(pages), *lost_figures(pages)]:
            sys.exit(f"site: the {edition} edition is not whole; _site is as it was.\n" + "\n".join(problems))
    return built


def prepare(edition: str) -> list[str]:
    """Write an edition's settings into an empty folder of its own and return the command that builds it there."""
    output = BUILD / edition
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    for name, tree in (("_config.yml", settings(edition)), ("_toc.yml", contents(edition))):
        # sort_keys=False: the order of scripts is an order of settings
        (output / name).write_text(yaml.safe_dump(tree, sort_keys=False, allow_unicode=True), encoding="utf-8")
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(ROOT / "book" / edition)]
    command += ["--config", str(output / "_config.yml"), "--toc", str(output / "_toc.yml")]
    return command + ["--path-output", str(output), "-W", "-n", "--keep-going", "--all"]


def failed_cells(pages: Path) -> list[str]:
    """Return a line for each report of a failed cell."""
    return [f"  {report.name}: a cell failed" for report in pages.glob("reports/**/*.err.log")]


def lost_figures(pages: Path) -> list[str]:
    """Return a line for each figure whose page holds no state for it: it could never move."""
    lines = []
    for page in pages.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        views = re.findall(r'widget-view\+json">(.*?)</script>', text, re.DOTALL)
        states = re.findall(r'widget-state\+json">(.*?)</script>', text, re.DOTALL)
        models = {model for state in states for model in json.loads(state)["state"]}
        lines += [
            f"  {page.name}: a figure without state" for view in views if json.loads(view)["model_id"] not in models
        ]
    return lines


def assemble(built: dict[str, Path]) -> None:
    """Put the editions together and exchange _site for the result, whole or not at all."""
    new, old = BUILD / "site", BUILD / "site-before"
    for folder in (new, old):
        shutil.rmtree(folder, ignore_errors=True)
    for edition, folder in EDITIONS.items():
        shutil.copytree(
            built[edition],
            new / folder,
            ignore=shutil.ignore_patterns("reports", ".buildinfo*", "*.map"),
            dirs_exist_ok=True,
        )
        for page in (ROOT / "book" / edition).glob("*.md"):
            notebook = new / folder / "notebooks" / f"{page.stem}.ipynb"
            notebook.parent.mkdir(exist_ok=True)
            notebook.write_text(derive(page, edition, repository()), encoding="utf-8", newline="\n")
    shutil.copy(ROOT / "book" / "404.html", new)
    (new / ".nojekyll").touch()  # GitHub Pages would leave out folders that begin with _
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    if SITE.exists():
        SITE.rename(old)
    new.rename(SITE)
    for number, handler in before.items():
        signal.signal(number, handler)
    shutil.rmtree(old, ignore_errors=True)


def main() -> None:
    def step(words: str) -> None:
        print(f"── {words} ({time.monotonic() - start:.0f} s)", flush=True)

    start = time.monotonic()
    if not repository():
        step("no repository on GitHub is named (BOOK_REPOSITORY or git's origin): no buttons for Binder and Colab")
    step("computing the figures")
    if run([sys.executable, "-m", "why_attention.figures"]) != [0]:
        sys.exit("site: the figures could not be computed; _site is as it was.")
    step("building both editions")
    assemble(build(*EDITIONS))
    step("the site is in _site/")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("site: ended; _site is as it was."))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("site: interrupted; _site is as it was.")
