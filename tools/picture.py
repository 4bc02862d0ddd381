"""Photograph the figure for the READMEs: `CHROMIUM=… python tools/picture.py`, after `make site`."""

import io
import os
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=2)
    page.goto((ROOT / "_site" / "en" / "recurrence.html").as_uri())
    page.add_style_tag(content=".bd-header-article { display: none }")  # it would lie over the figure
    figure = page.locator("figure[data-name=gradient-decay][data-drawn]")
    shot = Image.open(io.BytesIO(figure.screenshot())).convert("RGB")
    browser.close()
shot.quantize(48).save(ROOT / "book" / "_static" / "gradient-decay.png", optimize=True)
