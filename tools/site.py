"""Build the editions of book/languages.yml into _site/, each in its folder there: `python tools/site.py`

Nothing is done where no source has changed since, and an edition is built only if one of its own has: all its pages afresh
by Jupyter Book, with every warning an error, but cells run only where they must (book/_ext/page_sources.py). _site is
exchanged for the new one only when all is whole.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jinja2
from editions import EDITIONS, Edition
from environment import ROOT, VARIABLES
from repository import repository
from settings import arguments, settings, write_settings
from sources import MARK, digest_sources, is_current

BUILD = ROOT / "_build"
SITE = ROOT / "_site"
CELL = re.compile(r"^```\{code-cell\}.*?^```", re.MULTILINE | re.DOTALL)


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


def build(*codes: str) -> dict[str, Path]:
    """Build editions side by side and return the folder of each one's pages. Exits with a sentence where anything is amiss."""
    for code, status in zip(codes, run(*(prepare(EDITIONS[code]) for code in codes))):
        if status != 0:
            sys.exit(f"site: the edition {code} did not build; _site is as it was.")
        check_figures(EDITIONS[code])
    return {code: pages_of(code) for code in codes}


def pages_of(code: str) -> Path:
    return BUILD / code / "_build" / "html"


def check_figures(edition: Edition) -> None:
    """See that every page shows the figures that its cells make."""
    for page in (ROOT / "book" / edition.code).glob("*.md"):
        cells = [cell for cell in CELL.findall(page.read_text(encoding="utf-8")) if "skip-execution" not in cell]
        made = sum(cell.count(".figure(") for cell in cells)
        shown = (pages_of(edition.code) / f"{page.stem}.html").read_text("utf-8").count('<figure class="explorable"')
        if shown < made:
            sys.exit(
                f"site: {edition.code}/{page.name} shows {shown} of the {made} figures that its cells make: see that "
                "execute_notebooks in _config.yml is not off; _site is as it was."
            )


def prepare(edition: Edition) -> list[str]:
    """Write an edition's settings into an empty folder of its own and return the command that builds it there."""
    output = BUILD / edition.code
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    write_settings(output, settings(edition))
    command = [str(Path(sys.executable).parent / "jupyter-book"), *arguments(edition, output)]
    return [*command, "-W", "-n", "--keep-going", "--all"]


def missing_page() -> str:
    """Return the page for addresses that lead nowhere, in every language of the book."""
    template = jinja2.Template((ROOT / "book" / "404.html").read_text(encoding="utf-8"), autoescape=True)
    return template.render(editions=EDITIONS.values())


def built_from(code: str) -> Path:
    """Return the file that says what an edition was last built from."""
    return BUILD / code / "sources"


def assemble(digests: dict[str, str]) -> None:
    """Put the editions together and exchange _site for the result, whole or not at all."""
    from notebooks import derive  # here, for it takes seconds to import

    new, old = BUILD / "site", BUILD / "site-before"
    for folder in (new, old):
        shutil.rmtree(folder, ignore_errors=True)
    for edition in EDITIONS.values():
        shutil.copytree(
            pages_of(edition.code),
            new / edition.folder,
            ignore=shutil.ignore_patterns("reports", ".buildinfo*", "*.map"),
            dirs_exist_ok=True,
        )
        for page in (ROOT / "book" / edition.code).glob("*.md"):
            notebook = new / edition.folder / "notebooks" / f"{page.stem}.ipynb"
            notebook.parent.mkdir(exist_ok=True)
            notebook.write_text(derive(page, edition.code, repository()), encoding="utf-8", newline="\n")
    (new / "404.html").write_text(missing_page(), encoding="utf-8")
    (new / ".nojekyll").touch()  # GitHub Pages would leave out folders that begin with _
    (new / MARK.name).write_text("\n".join(digests.values()), encoding="utf-8")
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
    digests = digest_sources()
    if is_current(digests):
        return step("_site/ is what its sources make: nothing to build")
    if not repository():
        step("no repository on GitHub is named (BOOK_REPOSITORY or git's origin): no buttons for Binder and Colab")
    step("computing the figures")
    if run([sys.executable, "-m", "why_attention.figures"]) != [0]:
        sys.exit("site: the figures could not be computed; _site is as it was.")
    marks = {code: path.read_text(encoding="utf-8") for code in EDITIONS if (path := built_from(code)).exists()}
    if changed := [code for code in EDITIONS if marks.get(code) != digests[code]]:
        step(f"building {', '.join(changed)}")
        for code in build(*changed):
            built_from(code).write_text(digests[code], encoding="utf-8")
    assemble(digests)
    step("the site is in _site/")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("site: ended; _site is as it was."))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("site: interrupted; _site is as it was.")
