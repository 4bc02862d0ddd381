"""The theme without what no page needs: Font Awesome's script, and the glyphs that no page shows."""

import re
from pathlib import Path

from fontTools.subset import Options, Subsetter, load_font, save_font
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def subset_fonts(app: Sphinx, exception: Exception | None) -> None:
    """Keep of the icon fonts the glyphs that the pages, the theme's scripts and its style sheets show."""
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    scripts = [*out.glob("_static/scripts/fontawesome.js*"), *out.glob("_static/vendor/fontawesome/**/*.js")]
    fonts = [*out.glob("_static/vendor/fontawesome/**/*.woff2")]
    for script in scripts:
        script.unlink()
    sources = [*out.glob("**/*.html"), *out.glob("_static/scripts/*.js")]
    shown = {name for path in sources for name in re.findall(r"fa-[\w-]+", path.read_text("utf-8"))}
    code_points = set()
    for path in out.glob("_static/**/*.css"):
        for selectors, code in re.findall(r'([^{}]+)\{[^{}]*(?:content|--fa):"\\(\w+)"', path.read_text("utf-8")):
            icons = set(re.findall(r"fa-[\w-]+", selectors))
            if not icons or icons & shown:  # a rule of an icon that is shown, or of the theme itself
                code_points.add(int(code, 16))
    if not (scripts and fonts and code_points):
        raise ExtensionError(
            f"of Font Awesome the theme has {len(scripts)} scripts, {len(fonts)} fonts and {len(code_points)} icons that are "
            "shown where there was each: see where it keeps them now, and change book/_ext/slim_theme.py"
        )
    for path in out.glob("_static/vendor/fontawesome/**/*.ttf"):
        path.unlink()  # the same fonts again, for browsers without woff2
    for path in fonts:
        options = Options(flavor="woff2", layout_features=[])
        font = load_font(str(path), options)
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=code_points)
        subsetter.subset(font)
        save_font(font, str(path), options)


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", subset_fonts)
    return {"parallel_read_safe": True}
