"""Two editions: which page stands for which in the other one, and the theme's words that its catalogues lack."""

import posixpath

from sphinx.application import Sphinx

NAMES = {"zh_CN": "中文", "en": "English"}
WORDS = {
    "Color mode": "明暗模式",
    "System Settings": "跟随系统",
    "Collapse Sidebar": "收起侧栏",
    "Expand Sidebar": "展开侧栏",
    "Toggle primary sidebar": "打开或收起目录",
    "Toggle secondary sidebar": "打开或收起本页目录",
    "Toggle Table of Contents": "打开或收起目录",
    "Breadcrumb": "所在位置",
    "Contents": "本页目录",
}


def add_context(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    """Tell the templates where this page is in the other edition: nowhere in a build of one edition alone."""
    context["edition_names"] = NAMES
    context["other_page"] = None
    if app.config.other_edition:
        here = posixpath.dirname(app.builder.get_target_uri(pagename))
        target = posixpath.join(app.config.other_edition, app.builder.get_target_uri(pagename))
        context["other_page"] = posixpath.relpath(target, here or ".")
    if app.config.language == "zh_CN" and (inherited := context.get("translate")):  # sphinx-book-theme's own function
        context["translate"] = lambda text: WORDS.get(text) or inherited(text)


def translate_theme(app: Sphinx) -> None:
    """Put our words before the catalogues' in every template of the Chinese edition."""
    if app.builder.format == "html" and app.config.language == "zh_CN":
        inherited = app.translator
        app.builder.templates.environment.install_gettext_callables(
            lambda text: WORDS.get(text) or inherited.gettext(text), inherited.ngettext
        )


def setup(app: Sphinx) -> dict:
    app.add_config_value("other_edition", "", "html")  # path from this edition's root to the other's
    app.connect("builder-inited", translate_theme)
    app.connect("html-page-context", add_context, priority=900)
    return {"parallel_read_safe": True}
