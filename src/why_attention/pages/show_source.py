"""Prints the package's own source on a page, so that text and code cannot drift apart."""

import inspect
from collections.abc import Callable
from textwrap import dedent

from IPython.display import Markdown
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

__all__ = ["show_source"]

# JupyterLab breaks the lines and the words of an output, and nbconvert sets it in the font of text
WHOLE_LINES = (
    "white-space: pre; word-break: normal; overflow-x: auto; font-family: var(--jp-code-font-family, monospace)"
)
COLORS = {"k": "keyword", "ow": "keyword", "kc": "atom", "nb": "builtin", "nf": "def", "nc": "def", "s": "string", "sd": "string", "s2": "string", "mi": "number", "mf": "number", "c1": "comment", "o": "operator"}  # fmt: skip
STYLE = "".join(
    f"[data-jp-theme-light] .source .{token} {{ color: var(--jp-mirror-editor-{name}-color); }}\n"
    for token, name in COLORS.items()
)


class Source(Markdown):
    """Code as Markdown, for a site, which sets it like all its code, and as HTML, for notebooks."""

    def __init__(self, code: str):
        super().__init__(f"```python\n{code}```")
        self.code = code

    def _repr_html_(self) -> str:
        lines = highlight(self.code, PythonLexer(), HtmlFormatter(nowrap=True))
        return f'<style>{STYLE}</style><div class="highlight source"><pre style="{WHOLE_LINES}">{lines}</pre></div>'


def show_source(*objects: Callable) -> Source:
    """Return the source of classes or functions as one highlighted block.

    Raises ValueError for no objects, and for one without source: an instance or a builtin.
    """
    if not objects:
        raise ValueError("show_source has 0 objects: name at least 1 class or function")
    return Source("\n".join(dedent(source_of(one)) for one in objects))


def source_of(one: Callable) -> str:
    """Return the source of a class or function.  Raises ValueError for an object without one."""
    try:
        return inspect.getsource(one)
    except (TypeError, OSError) as error:
        raise ValueError(f"{one!r} has 0 lines of source: name a class or a function written in Python") from error
