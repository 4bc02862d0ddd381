"""BertViz's head view and model view of attention maps, self-contained.

BertViz writes HTML that loads its scripts from other hosts: it is blank offline, and two views in one notebook compete
for the same names.  Here that HTML becomes a document in its own frame, with d3 and jQuery (installed by npm) inside,
words in the page's language, and layers and heads counted from 1.  Without npm's scripts the view loads them from
BertViz's hosts and says so.

A view is parsed when the reader opens it.

Source: Vig 2019, "A Multiscale Visualization of Attention in the Transformer Model".
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

import bertviz
from torch import Tensor

from explorable.text import Text, language
from why_attention.checks import check_all_whole, check_whole
from why_attention.pages.bertviz_scripts import SCRIPTS, elements, opener
from why_attention.pretrained import stack_maps

__all__ = ["head_view", "model_view"]

SPECIAL = ("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>")  # tokens that a tokenizer adds
PARAMS = re.compile(r"(const params = .*); // HACK: .*")  # this comment repeats all the numbers
FRAME = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")

LAYER, HEAD = Text(zh="层", en="Layer"), Text(zh="头", en="Head")
LAYERS, HEADS = Text(zh="层", en="Layers"), Text(zh="头", en="Heads")
HEAD_VIEW = Text(
    zh="BertViz 的 head view：一次看一层的各个头", en="BertViz's head view: the heads of one layer at a time"
)
MODEL_VIEW = Text(zh="BertViz 的 model view：所有层的所有头", en="BertViz's model view: all heads of all layers")
SIZES = Text(zh="（{} 层 × {} 头，{} 个 token）", en=" ({} layers × {} heads, {} tokens)")
HEAD_READING = Text(
    zh="左边是查询，右边是键；线越浓，权重越大。一种颜色是一个头：点一下色块就把这个头关掉或打开，点两下只留它一个。"
    "指着左边的一个词，就只看它把注意力分给了谁；指着右边的，就看谁注意它。",
    en="Queries stand on the left, keys on the right; the stronger a line, the larger the weight. A colour is a head: click "
    "its box to switch it off or on, twice to keep it alone. Point at a word on the left to see only where it attends, "
    "at one on the right to see who attends to it.",
)
MODEL_READING = Text(
    zh="一行是一层，一列是一个头；每个小图里左边是查询，右边是键。点一个小图就把它放大，再点一下就收起。",
    en="A row is a layer, a column a head; in each small picture queries stand on the left, keys on the right. "
    "Click one to enlarge it, and once more to put it away.",
)
HIDDEN = Text(
    zh="没有画 {}：它们不是句子里的词，却占去全部注意力的 {:.0%}。所以画出来的权重，一行加起来不到 1。",
    en="Not drawn: {}, which are no words of the sentence but take {:.0%} of all attention. "
    "So the weights that are drawn sum to less than 1 for a query.",
)
ELSEWHERE = Text(
    zh="这里没有装 d3 和 jQuery，所以这幅图要从别的网站取它们；断网时就是空白。",
    en="d3 and jQuery are not installed here, so this view gets them from another host; without a network it stays blank.",
)
WAITING = Text(
    zh="这幅图由脚本来画。这里要是一直没有图，就是脚本没有运行：请允许本页的 JavaScript；在笔记本里，请信任它，或者重新运行这个单元。",
    en="Scripts draw this view. If it does not appear here, they did not run: allow JavaScript on this page; in a notebook, "
    "trust it or run the cell again.",
)


class View:
    """A view as HTML, closed until the reader opens it."""

    def __init__(self, title: str, notes: list[str], document: str):
        self.title, self.notes, self.document = title, notes, document
        self.language, self.waiting = language(), str(WAITING)

    def __repr__(self) -> str:
        return self.title

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f'<details class="bertviz" lang="{self.language}"><summary>{html.escape(self.title)}</summary>{notes}'
            f'<p class="waiting">{html.escape(self.waiting)}</p>'
            f'<iframe title="{html.escape(self.title)}" style="width: 100%; height: 0; border: 0" '
            f'data-document="{html.escape(self.document)}"></iframe></details>{opener()}'
        )


def head_view(
    maps: Tensor | Sequence[Tensor],
    tokens: Sequence[str],
    layer: int = 1,
    heads: Sequence[int] | None = None,
    hide: Sequence[str] = SPECIAL,
) -> View:
    """Return BertViz's view of one layer at a time, opened at a layer and some of its heads, or all of them.

    maps: (layers, heads, n, n), rows are queries, or a list of one tensor a layer, as a model returns it.  tokens: n
    words.  layer and heads: counted from 1.  hide: tokens that are not drawn.
    Raises ValueError for maps that are not weights, for another number of tokens, and for an unknown layer or head.
    """
    maps, tokens, share = select(maps, tokens, hide)
    (layer,) = check_whole(least=0, layer=layer)
    if not 1 <= layer <= len(maps):
        raise ValueError(f"layer {layer} is none of 1 … {len(maps)}")
    heads = None if heads is None else check_all_whole("heads", heads, least=0)
    if heads is not None and (not heads or not set(heads) <= set(range(1, maps.shape[1] + 1))):
        raise ValueError(f"heads {heads} are not all of 1 … {maps.shape[1]}, or none: name at least one")
    chosen = None if heads is None else [head - 1 for head in heads]
    part = bertviz.head_view(list(maps[:, None]), tokens, layer=layer - 1, heads=chosen, html_action="return").data
    part = replace(
        part,
        ('Layer: <select id="layer"></select>', f'<label>{LAYER} <select id="layer"></select></label>'),
        (f'"layer": {layer - 1}', f'"layer": {layer}'),
    )
    return view(HEAD_VIEW, HEAD_READING, part, maps, tokens, share)


def model_view(maps: Tensor | Sequence[Tensor], tokens: Sequence[str], hide: Sequence[str] = SPECIAL) -> View:
    """Return BertViz's view of all heads of all layers at once.  Parameters and errors are those of ``head_view``."""
    maps, tokens, share = select(maps, tokens, hide)
    part = bertviz.model_view(list(maps[:, None]), tokens, html_action="return").data
    part = replace(
        part,
        ('.text("Heads")', f'.text("{HEADS}")'),
        ('.text("Layers")', f'.text("{LAYERS}")'),
        ("const DIV_WIDTH = 970;", "const DIV_WIDTH = Math.max(320, innerWidth);"),
        ("'Layer ' +", f"'{LAYER} ' +"),
        ('", Head " +', f'", {HEAD} " +'),
        ('"display_mode": "dark"', '"display_mode": dark ? "dark" : "light"'),
        # BertViz sizes pictures by their number: with few heads each would fill the screen
        (f'"total_heads": {maps.shape[1]}', f'"total_heads": {max(maps.shape[1], 6)}'),
        (f'"include_heads": {[*range(maps.shape[1])]}', f'"include_heads": {[*range(1, maps.shape[1] + 1)]}'),
    )
    return view(MODEL_VIEW, MODEL_READING, part, maps, tokens, share)


def select(maps: Tensor | Sequence[Tensor], tokens: Sequence[str], hide: Sequence[str]):
    """Return the maps and tokens without the hidden ones, and the share of all attention of each hidden token."""
    maps, tokens = stack_maps(maps).detach().cpu().double(), [str(token) for token in tokens]
    if maps.shape[-1] != len(tokens):
        raise ValueError(f"the maps are of {maps.shape[-1]} positions, but there are {len(tokens)} tokens: {tokens}")
    if not ((0 <= maps) & (maps <= 1.001)).all():  # false for NaN
        bad = maps[~((0 <= maps) & (maps <= 1.001))]
        raise ValueError(
            f"{len(bad)} of {maps.numel()} weights lie outside 0 … 1, the first is {bad[0]:g}: "
            "maps hold the weights after the softmax, not the scores before it"
        )
    if not maps.any():
        raise ValueError(f"all {maps.numel()} weights are 0: those of a query must add up to 1")
    keep = [i for i, token in enumerate(tokens) if token not in hide]
    if not keep:
        raise ValueError(f"all {len(tokens)} tokens are to be hidden: {tokens}")
    share = {
        token: maps[..., [one == token for one in tokens]].sum().item() / maps.sum().item()
        for token in dict.fromkeys(tokens)
        if token in hide
    }
    # a thousandth is invisible, and each more digit costs kilobytes
    return maps[..., keep, :][..., keep].round(decimals=3), [tokens[i] for i in keep], share


def view(name: Text, reading: Text, part: str, maps: Tensor, tokens: Sequence[str], share: dict[str, float]) -> View:
    """Return the view made of BertViz's HTML."""
    title = f"{name}{SIZES}".format(len(maps), maps.shape[1], len(tokens))
    notes = [str(reading)]
    if share:
        notes.append(str(HIDDEN).format(str(Text(zh="、", en=", ")).join(share), sum(share.values())))
    part = replace(
        part, (f'"include_layers": {[*range(len(maps))]}', f'"include_layers": {[*range(1, len(maps) + 1)]}')
    )
    part = PARAMS.sub(lambda match: match[1].replace("</", "<\\/") + ";", part)
    if all(script.exists() for script in SCRIPTS):
        part = embed_scripts(part)
    else:
        notes.append(str(ELSEWHERE))
    words = {"LANGUAGE": language(), "TITLE": html.escape(title), "LAYER": str(LAYER), "HEAD": str(HEAD), "PART": part}
    return View(title, notes, re.sub(r"\b[A-Z]+\b", lambda word: words.get(word[0], word[0]), FRAME))


def embed_scripts(part: str) -> str:
    """Return BertViz's HTML with d3 and jQuery inside instead of require.js."""
    part = re.sub(r"<script src=[^>]*require[^>]*></script>", lambda _: elements(), part)
    part = re.sub(r"require\.config\(\{.*?\}\);", "", part, flags=re.DOTALL)
    part = replace(part, ("requirejs(['jquery', 'd3'], function", "(function"))
    return re.sub(r"\}\);\s*</script>\s*$", "})(jQuery, d3);\n</script>", part)


def replace(part: str, *pairs: tuple[str, str]) -> str:
    """Return a text with each ``old`` replaced by its ``new``.  Raises ValueError where an old is not in it."""
    for old, new in pairs:
        if old not in part:
            raise ValueError(f"BertViz wrote no {old!r}: this module reads what its version 1.4.1 writes; install that")
        part = part.replace(old, new)
    return part
