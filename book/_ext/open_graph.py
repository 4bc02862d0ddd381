"""What a chat or a forum shows of a link to a page: the tags of the Open Graph protocol."""

import html
import re

from sphinx.application import Sphinx

PICTURE = "_static/gradient-decay.png"
DESCRIPTION = re.compile(r'<meta content="([^"]*)" name="description"')


def add_tags(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    if app.builder.name != "html":
        return
    tags = {
        "type": "article",
        "title": re.sub("<[^>]*>", "", context.get("title", "")).replace('"', "&quot;"),
        "site_name": html.escape(app.config.html_title),
        "locale": app.config.language,
    }
    if found := DESCRIPTION.search(context.get("metatags", "")):
        tags["description"] = found[1]
    if app.config.html_baseurl:  # else nobody says where the site is
        tags["url"] = app.config.html_baseurl + app.builder.get_target_uri(pagename)
        tags["image"] = app.config.html_baseurl + PICTURE
    lines = [f'<meta property="og:{name}" content="{text}">' for name, text in tags.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_tags)
    return {"parallel_read_safe": True}
