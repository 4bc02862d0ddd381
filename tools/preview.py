"""Serve the book while somebody works on it: `python tools/preview.py [port] [edition …]`, all editions where none is named.

A page is built again within seconds of a save, and reloads in the browser. Its cells run again only where they must
(book/_ext/page_sources.py). No warning ends it.
"""

import multiprocessing
import multiprocessing.context
import os
import posixpath
import signal
import subprocess
import sys
import threading
import time
from contextlib import redirect_stdout, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from editions import EDITIONS
from environment import ROOT, VARIABLES
from port import free_port
from settings import arguments, settings, write_settings
from sources import editions_of, source_files

OUTPUT = ROOT / "_build" / "preview"
HOOKS = [ROOT / "book" / "_ext", ROOT / "book" / "_locale"]
RELOAD = """
setInterval(async () => {
  const ended = await fetch("/last-build").then((answer) => answer.text(), () => 0);
  if (Number(ended) > performance.timeOrigin) location.reload();
}, 300);
"""


# In the process that builds an edition, to whose Sphinx this file is an extension


def build(code: str, afresh: bool) -> None:
    """Build the pages of an edition whose sources have changed, or all: Sphinx sees no change of our hooks and words."""
    from jupyter_book.cli.main import main as jupyter_book

    os.environ.update(VARIABLES)
    edition, output = EDITIONS[code], OUTPUT / code
    config = settings(edition)
    config["execute"]["raise_on_error"] = False
    config["sphinx"]["local_extensions"]["preview"] = str(ROOT / "tools")
    extensions = config["sphinx"]["config"]["extensions"]
    extensions[extensions.index("slim_theme")] = "preview"  # to slim the theme takes seconds
    output.mkdir(parents=True, exist_ok=True)
    write_settings(output, config)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):  # warnings go to stderr
        options = ["--keep-going", *(["--all"] if afresh else [])]
        jupyter_book([*arguments(edition, output), *options], standalone_mode=False)


def setup(app) -> dict:
    app.add_js_file(None, body=RELOAD)
    return {"parallel_read_safe": True}


# In the process that watches and serves


class Handler(SimpleHTTPRequestHandler):
    """Pages of each edition, in its folder of the site, and when the last build ended."""

    def translate_path(self, path: str) -> str:
        if path == "/last-build":
            return str(OUTPUT / "last-build")
        within = [one for one in EDITIONS.values() if f"{path}/".startswith(posixpath.join("/", one.folder, ""))]
        edition = max(within, key=lambda one: len(one.folder))
        self.directory = str(OUTPUT / edition.code / "_build" / "html")
        return super().translate_path(path.removeprefix(posixpath.join("/", edition.folder)))

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


def save_times() -> dict[Path, int]:
    """Return when each file that the book is made of was saved last."""
    times = {}
    for path in source_files():
        with suppress(FileNotFoundError):  # an editor's own, gone already
            times[path] = path.stat().st_mtime_ns
    return times


def serve(port: int) -> str:
    """Serve the pages from a thread and return their address."""
    server = ThreadingHTTPServer(("localhost", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://localhost:{server.server_port}"


def process_context() -> multiprocessing.context.BaseContext:
    """Return what starts a process for a build: one that has no module of the book's yet, and all that takes seconds."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["jupyter_book.cli.main", "myst_nb.sphinx_ext", "pydata_sphinx_theme"])
    return context


def build_editions(context: multiprocessing.context.BaseContext, codes: list[str], afresh: bool) -> list[str]:
    """Build editions, a process each, and return those that failed."""
    running = {code: context.Process(target=build, args=(code, afresh), daemon=True) for code in codes}
    for process in running.values():
        process.start()
    for process in running.values():
        process.join()
    return [code for code, process in running.items() if process.exitcode]


def main(port: int, codes: list[str]) -> None:
    if unknown := set(codes) - set(EDITIONS):
        sys.exit(f"preview: no edition {', '.join(sorted(unknown))}; there are {', '.join(EDITIONS)}.")
    address, context = serve(port), process_context()
    print(f"── building {', '.join(codes)}: minutes the first time", flush=True)
    subprocess.run([sys.executable, "-m", "why_attention.figures"], env=VARIABLES)  # once, not in every edition
    before: dict[Path, int] = {}
    failed: list[str] = []
    while True:
        now = save_times()
        changed = {path for path in now.keys() | before.keys() if now.get(path) != before.get(path)}
        owners = {edition.code for path in changed for edition in editions_of(path)}
        if affected := [code for code in codes if code in owners]:
            start = time.monotonic()
            afresh = any(path.is_relative_to(folder) for path in changed & before.keys() for folder in HOOKS)
            affected = list(dict.fromkeys([*affected, *failed]))
            failed = build_editions(context, affected, afresh)
            (OUTPUT / "last-build").write_text(f"{1000 * time.time():.0f}", encoding="utf-8")
            state = f"{', '.join(failed)} failed, until the next save" if failed else address
            print(f"── {', '.join(affected)} ({time.monotonic() - start:.1f} s): {state}", flush=True)
        before = now
        time.sleep(0.2)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # which ends the builds
    try:
        main(free_port(sys.argv[1] if len(sys.argv) > 1 else "8000"), sys.argv[2:] or list(EDITIONS))
    except KeyboardInterrupt:
        print()
