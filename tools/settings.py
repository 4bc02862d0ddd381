"""What Jupyter Book is told to build an edition: the root's _config.yml and _toc.yml, in the edition's language."""

import posixpath
from pathlib import Path

import yaml
from address import address, edition_address
from editions import EDITIONS, FIRST, Edition
from environment import ROOT
from repository import BRANCH, repository

OUTPUTS = ROOT / "_build" / "outputs"  # of cells, as they ran last


def settings(edition: Edition) -> dict:
    """Return an edition's settings: the root's, in its language, and every path absolute."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["title"] = edition.title
    config["html"]["favicon"] = str(ROOT / config["html"]["favicon"])
    config["execute"]["cache"] = str(OUTPUTS / edition.code)
    sphinx = config["sphinx"]
    sphinx["local_extensions"] = {name: str(ROOT / folder) for name, folder in sphinx["local_extensions"].items()}
    for key in ("locale_dirs", "templates_path", "html_static_path"):
        sphinx["config"][key] = [str(ROOT / path) for path in sphinx["config"][key]]
    sphinx["config"]["language"] = edition.language
    sphinx["config"]["other_editions"] = [
        {
            "name": other.name,
            "tag": other.tag,
            "path": posixpath.relpath(other.folder or ".", edition.folder or "."),
        }
        for other in EDITIONS.values()
        if other is not edition
    ]
    # what launch.html asks for: where the notebooks of this edition are in the repository
    here = {"notebooks": f"book/{edition.code}", "notebooks_branch": BRANCH, "repository": repository()}
    sphinx["config"]["html_context"] |= here | {"address": address()}
    sphinx["config"]["html_baseurl"] = edition_address(edition)  # nothing: no page names its own address
    return config


def contents() -> dict:
    """Return the table of contents of every edition: the root's, which names the first one's pages, from their folder."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    return yaml.safe_load(toc.replace(f"book/{FIRST.code}/", ""))


def write_settings(output: Path, config: dict) -> None:
    for name, tree in (("_config.yml", config), ("_toc.yml", contents())):
        # sort_keys=False: the order of extensions and scripts is an order of settings
        (output / name).write_text(yaml.safe_dump(tree, sort_keys=False, allow_unicode=True), encoding="utf-8")


def arguments(edition: Edition, output: Path) -> list[str]:
    """Return what Jupyter Book is asked for, with the settings in that folder."""
    named = {"config": output / "_config.yml", "toc": output / "_toc.yml", "path-output": output}
    return ["build", str(ROOT / "book" / edition.code), *(f"--{name}={path}" for name, path in named.items())]
