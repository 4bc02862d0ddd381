"""The code of a cell that only shows a figure, which has the tag hide-input: folded, one line below the figure."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform


class FoldedCode(nodes.Element):
    pass


class FoldCode(SphinxPostTransform):
    """Put the code of such cells behind what they show."""

    default_priority = 198  # before MyST-NB's own transform, which would put it above
    formats = ("html",)

    def run(self, **_options: object) -> None:
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code" and cell.get("hide_mode") == "input":
                del cell["hide_mode"]
                code = cell.children[0]
                cell.remove(code)
                cell += FoldedCode("", code)


def open_fold(self: nodes.NodeVisitor, _node: FoldedCode) -> None:
    self.body.append(f'<details class="folded-code"><summary>{escape(_("Code of this figure"))}</summary>\n')


def close_fold(self: nodes.NodeVisitor, _node: FoldedCode) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> dict:
    app.add_node(FoldedCode, html=(open_fold, close_fold))
    app.add_post_transform(FoldCode)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
