"""Shows a page the package's own code, so that text and code cannot drift apart."""

import inspect
from collections.abc import Callable
from textwrap import dedent

from IPython.display import Markdown

__all__ = ["show_source"]


def show_source(*objects: Callable) -> Markdown:
    """Return the source of classes or functions as one highlighted block."""
    code = "\n".join(dedent(inspect.getsource(one)) for one in objects)
    return Markdown(f"```python\n{code}```")
