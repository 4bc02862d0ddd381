"""Compute frames and traces of every figure into the cache, with a progress bar: `python -m why_attention.figures`."""

import importlib
import pkgutil

from why_attention import figures

for module in pkgutil.iter_modules(figures.__path__):
    if module.name != "__main__":
        importlib.import_module(f"why_attention.figures.{module.name}").figure().html()
