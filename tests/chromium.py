"""What the browser tests share: Chromium, a server of a folder, a page of figures made as the book makes it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from playwright.sync_api import Browser, Page

from explorable import Explorable
from explorable.page import page

ARGUMENTS = [  # root may run no sandbox; the rest keeps Chromium itself from calling other hosts
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ELSEWHERE = re.compile(r"^(?!http://127\.0\.0\.1:|file:|data:|blob:)")  # the addresses of other hosts


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


class Visit:
    """A page with what a visit must never see: errors, and requests to another host, which are refused."""

    def __init__(self, browser: Browser, **options):
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        self.answers = []
        self.page.on("response", lambda answer: self.answers.append(answer))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.route(ELSEWHERE, self.refuse)

    def refuse(self, route) -> None:
        self.elsewhere.append(route.request.url)
        route.abort()

    def open(self, address: str, figures: bool = True) -> Page:
        self.page.goto(address)
        if figures:
            self.page.wait_for_function(
                "[...document.querySelectorAll('figure.explorable')].every((figure) => figure.dataset.drawn)"
            )
        return self.page

    def close(self) -> None:
        self.context.close()
        assert self.errors == []
        assert self.elsewhere == []


def page_of(figures: list[Explorable], language: str = "zh-CN") -> str:
    """Return a page that shows figures; language: that of the page around them."""
    return re.sub('(?<=<html lang=")[^"]*', language, page(figures), count=1)


def state_of(page: Page, figure: int = 0) -> str:
    return page.locator("figure.explorable").nth(figure).get_attribute("data-state")


def hash_of(page: Page, figure: int = 0) -> str:
    return page.locator("figure.explorable").nth(figure).get_attribute("data-drawn")


def numbers_of(page: Page, figure: int = 0) -> dict:
    """Return ``figure.drawn``, the numbers on screen (JSON turns −Infinity into null)."""
    drawn = "JSON.stringify(document.querySelectorAll('figure.explorable')[{}].drawn)"
    return json.loads(page.evaluate(drawn.format(figure)))


def move(page: Page, name: str, figure: int = 0) -> None:
    """Move one control one step, as a reader would, opening "more" where it is folded."""
    root = page.locator("figure.explorable").nth(figure)
    control = root.locator(f'[name="{name}"]')
    if not control.is_visible():
        root.locator(".more > summary").click()
    kind = control.evaluate("(input) => input.type")
    if kind == "checkbox":
        control.click()
    elif kind == "range":
        at_end = control.evaluate("(input) => input.value === input.max")
        control.press("ArrowLeft" if at_end else "ArrowRight")
    else:
        count = control.locator("option").count()
        control.select_option(index=(control.evaluate("(input) => input.selectedIndex") + 1) % count)
