"""Prints the package's own source on a page, so that text and code cannot drift apart."""

import inspect
from collections.abc import Callable
from textwrap import dedent

from IPython.display import Markdown

__all__ = ["show_source"]


def show_source(*objects: Callable) -> Markdown:
    """Return the source of classes or functions as one highlighted block.

    Raises ValueError for no objects, and for one without source: an instance or a builtin.
    """
    if not objects:
        raise ValueError("show_source has 0 objects: name at least 1 class or function")
    code = "\n".join(dedent(source_of(one)) for one in objects)
    return Markdown(f"```python\n{code}```")


def source_of(one: Callable) -> str:
    """Return the source of a class or function.  Raises ValueError for an object without one."""
    try:
        return inspect.getsource(one)
    except (TypeError, OSError) as error:
        raise ValueError(f"{one!r} has 0 lines of source: name a class or a function written in Python") from error
