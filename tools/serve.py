"""Serve _site/ as a web host would, with its 404 page: `python tools/serve.py [port]`.

What stands is served at once. Where sources have changed since, the new site is built meanwhile and takes its place.
"""

import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from editions import EDITIONS
from environment import ROOT, say
from port import free_port
from sources import digest_sources, is_current

SITE = ROOT / "_site"
LOG = ROOT / "_build" / "site.log"
BUILD = [sys.executable, str(ROOT / "tools" / "site.py")]


class Handler(SimpleHTTPRequestHandler):
    """Files of _site, and its own page for what is not there."""

    def send_error(self, code, message=None, explain=None):
        if code != 404:
            return super().send_error(code, message, explain)
        page = (SITE / "404.html").read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page)

    def log_message(self, *_):
        pass


def build_meanwhile() -> None:
    say("sources have changed since this site was built: building the new one beside it")
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("w", encoding="utf-8") as log:
        failed = subprocess.run(BUILD, stdout=log, stderr=subprocess.STDOUT).returncode
    if failed:
        say(f"the new site did not build, {LOG.relative_to(ROOT)} says why; what is served is the last one")
    else:
        say("the new site is there: reload the page")


def main(port: int) -> None:
    server = ThreadingHTTPServer(("localhost", port), partial(Handler, directory=str(SITE)))
    if not (SITE / "index.html").exists() and (failed := subprocess.run(BUILD).returncode):
        sys.exit(failed)
    address = f"http://localhost:{server.server_port}"
    others = ", ".join(
        f"{edition.code}: {address}/{edition.folder}/" for edition in EDITIONS.values() if edition.folder
    )
    print(f"The book is at {address} ({others}). Ctrl+C ends it.", flush=True)
    if not is_current(digest_sources()):
        threading.Thread(target=build_meanwhile, daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main(free_port(sys.argv[1] if len(sys.argv) > 1 else "8000"))
