"""Firefox and WebKit as Debian packages them, driven by what they bring themselves: Marionette, and WebKitWebDriver."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

PACKAGES = {"firefox": ["firefox-esr"], "webkit": ["webkit2gtk-driver", "xvfb", "xauth"]}
PROGRAMS = {"firefox": ["firefox-esr"], "webkit": ["WebKitWebDriver", "xvfb-run"]}
PATIENCE = 60  # seconds


def is_there(name: str) -> bool:
    """Return whether a browser is installed, which we do where we are root and have Debian's packages."""
    if not all(map(shutil.which, PROGRAMS[name])) and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", *PACKAGES[name]], capture_output=True)
    return all(map(shutil.which, PROGRAMS[name]))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def patiently(attempt):
    """Return what an attempt gives at last."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


class Driven:
    """A browser that opens addresses and runs scripts; ``command(name, values)`` asks it in its own protocol."""

    def __init__(self, command):
        self.command = command

    def open(self, address: str) -> None:
        self.command("url", {"url": address})

    def run(self, script: str, *arguments):
        """Run the body of a function, whose arguments are ``arguments``, and return its value."""
        return self.command("execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition: str):
        """Wait until an expression is true, and return it."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(f"return {condition}")):
            assert time.monotonic() < end, f"{condition} never came true"
            time.sleep(0.1)
        return found

    def press(self, key: str) -> None:
        """Press a key (as WebDriver names it, such as "\\ue014") where the focus is."""
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.command("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})


@contextmanager
def firefox() -> Iterator[Driven]:
    """https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html"""
    names = {"url": "Navigate", "execute/sync": "ExecuteScript", "actions": "PerformActions"}
    with TemporaryDirectory() as profile:
        port = free_port()
        Path(profile, "user.js").write_text(f'user_pref("marionette.port", {port});\n', encoding="utf-8")
        command = ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            connection = patiently(lambda: socket.create_connection(("127.0.0.1", port)))
            stream = connection.makefile("rwb")

            def receive():
                length = b""
                while (digit := stream.read(1)) != b":":
                    length += digit
                return json.loads(stream.read(int(length)))

            def ask(name: str, values: dict):
                message = json.dumps([0, 1, name, values]).encode()
                stream.write(b"%d:%s" % (len(message), message))
                stream.flush()
                _, _, error, result = receive()
                assert error is None, error
                return result.get("value") if isinstance(result, dict) else result

            receive()  # its greeting
            ask("WebDriver:NewSession", {})
            yield Driven(lambda name, values: ask(f"WebDriver:{names[name]}", values))
        finally:
            process.terminate()
            process.wait()


@contextmanager
def webkit() -> Iterator[Driven]:
    """https://www.w3.org/TR/webdriver2/"""
    port = free_port()
    command = ["xvfb-run", "-a", "WebKitWebDriver", f"--port={port}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def ask(path: str, values: dict):
        request = Request(f"http://127.0.0.1:{port}/session{path}", json.dumps(values).encode(), method="POST")
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    try:
        session = patiently(lambda: ask("", {"capabilities": {}}))["sessionId"]
        yield Driven(lambda name, values: ask(f"/{session}/{name}", values))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 15)
        process.wait()
