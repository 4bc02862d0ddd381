"""Serve _site/ as a web host would, with its 404 page: `python tools/serve.py [port]`."""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from editions import EDITIONS
from environment import ROOT

SITE = ROOT / "_site"


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


def main(port: int) -> None:
    try:
        server = ThreadingHTTPServer(("localhost", port), partial(Handler, directory=str(SITE)))
    except OSError as error:
        sys.exit(f"serve: port {port} is taken ({error.strerror}); name another with `make serve PORT=8001`.")
    address = f"http://localhost:{server.server_port}"
    others = ", ".join(
        f"{edition.code}: {address}/{edition.folder}/" for edition in EDITIONS.values() if edition.folder
    )
    print(f"The book is at {address} ({others}). Ctrl+C ends it.", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
