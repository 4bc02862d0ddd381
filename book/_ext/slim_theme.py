"""The theme without what no page needs: Font Awesome's script, the glyphs that no page shows, Thebe's address."""

import re
from pathlib import Path

from fontTools.subset import Options, Subsetter, load_font, save_font
from sphinx.application import Sphinx

FONTS = "_static/vendor/fontawesome/webfonts"


def drop_thebe(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    """Drop sphinx-thebe's scripts: they name another host, and twice over, which is an error on every page."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe"
        not in f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', {}).get('body', '')}".lower()
    ]


def subset_fonts(app: Sphinx, exception: Exception | None) -> None:
    """Keep of the icon fonts the glyphs whose classes occur in the pages or in the theme's own scripts."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    styles = "".join(path.read_text("utf-8") for path in out.glob("_static/styles/*.css"))
    code_points = {name: int(code, 16) for name, code in re.findall(r'\.(fa-[\w-]+):before\{content:"\\(\w+)"', styles)}
    for names, code in re.findall(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\(\w+)"', styles):
        code_points |= {name: int(code, 16) for name in re.findall(r"fa-[\w-]+", names)}
    pages = "".join(
        p.read_text("utf-8")
        for p in [*out.glob("**/*.html"), *out.glob("_static/scripts/py*.js"), *out.glob("_static/scripts/sp*.js")]
    )
    used = {code_points[name] for name in re.findall(r"fa-[\w-]+", pages) if name in code_points}
    used |= {
        int(code, 16)
        for code in re.findall(r'content:(?:var\(--[\w-]+\),)?"\\(f[0-9a-f]{2,3})"', without_classes(styles))
    }
    for path in (out / FONTS).glob("*"):
        if path.suffix != ".woff2":
            path.unlink()  # the same fonts again, for browsers without woff2
            continue
        options = Options(flavor="woff2", layout_features=[])
        font = load_font(str(path), options)
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=used)
        subsetter.subset(font)
        save_font(font, str(path), options)
    for path in out.glob("_static/scripts/fontawesome.js*"):
        path.unlink()


def without_classes(styles: str) -> str:
    """Return the style sheets without Font Awesome's own rules, one for every icon that there is."""
    return re.sub(r'(?:\.fa-[\w-]+:before,?)+\{content:"\\\w+"[^}]*\}', "", styles)


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", drop_thebe, priority=950)
    app.connect("build-finished", subset_fonts)
    return {"parallel_read_safe": True}
