"""KaTeX's server at build: the connection waits for one that is slow to listen, and says so where there is none."""

import importlib
import socket
import sys
from pathlib import Path
from subprocess import Popen

import pytest
from sphinxcontrib.katex import KaTeXError, KaTeXServer

ROOT = Path(__file__).parents[1]
SLOW = """
import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
time.sleep(0.3)  # the socket is there, but nobody listens
server.listen()
server.accept()[0].sendall(b"hello")
"""


@pytest.fixture
def katex_build(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")
    return importlib.import_module("katex_build")


def run_instead(monkeypatch, program: str) -> None:
    """Have a Python program stand for KaTeX's server."""
    monkeypatch.setattr(KaTeXServer, "build_command", lambda socket: [sys.executable, "-c", program, str(socket)])


def test_a_server_that_listens_late_is_waited_for(katex_build, monkeypatch, tmp_path):
    run_instead(monkeypatch, SLOW)
    process, connection = katex_build.start_server(tmp_path, timeout=20)
    with connection:
        assert connection.family == socket.AF_UNIX
        assert connection.recv(5) == b"hello"
    assert process.wait(timeout=20) == 0


def test_a_server_that_never_listens_ends_the_build_and_is_ended(katex_build, monkeypatch, tmp_path):
    run_instead(monkeypatch, "import time; time.sleep(60)")
    started = []
    monkeypatch.setattr(
        katex_build, "Popen", lambda *args, **options: started.append(Popen(*args, **options)) or started[0]
    )
    with pytest.raises(KaTeXError, match=r"0\.2 seconds"):
        katex_build.start_server(tmp_path, timeout=0.2)
    assert started[0].wait(timeout=5) != 0
