"""Figure alignment: soft alignment removes the bottleneck, up to about the lengths of training.

The stored translators (tasks/translation.py) translate one sentence of each length; the weights of each step are a row of
the matrix.  The lines are the stored results of all seeds.
"""

import math
import random
from functools import cache
from itertools import takewhile
from typing import Any

import numpy as np
import torch

from explorable import Arcs, Axis, Choice, Companion, Control, Explorable, Heatmap, Lines, Sentence, Series, Text
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.tasks.translation import (
    EXPERIMENT,
    FALLS,
    LENGTHS,
    LONGEST,
    TESTED,
    Pair,
    batch,
    decode,
    load,
    pair,
)

SHOWN = [4, 8, 12, 16, 20, 24]  # words of the sentences drawn
NEARLY_ALL = 0.9  # of the sentences of a length
END_WORD = "(end)"
translator = cache(load)


def model(attention: bool) -> str:
    return "attention" if attention else "bottleneck"


@cache
def sentence(n: int) -> Pair:
    """Return the sentence of n words, always the same one."""
    return pair(n, random.Random(n))


@cache
@torch.no_grad()
def translation(n: int, attention: bool) -> tuple[list[str], torch.Tensor | None]:
    """Return the words that a model writes, with END at most n + 1, and its weights (words, n), if any."""
    given = batch([sentence(n)])
    scores, weights = translator(model(attention))(given.source.cpu(), given.lengths.cpu())
    words = [*decode(scores[0].argmax(-1)), END_WORD][: n + 1]
    return words, weights[0, : len(words)] if attention else None


def words_written(n: int, attention: bool) -> list[str]:
    """Return the words of the rows; wrong ones have a star."""
    right = [*sentence(n).target, END_WORD]
    return [word if word == right[i] else f"*{word}" for i, word in enumerate(translation(n, attention)[0])]


def words_right(n: int, attention: bool) -> int:
    """Return how many of the n words are right and in the right place."""
    return sum(word == right for word, right in zip(translation(n, attention)[0], sentence(n).target))


def log_weights(n: int, attention: bool) -> torch.Tensor:
    """Return log10 of the weights, (words, n): −∞ without attention."""
    words, weights = translation(n, attention)
    return torch.full((len(words), n), -math.inf) if weights is None else weights.log10()


def right_places(n: int, attention: bool) -> torch.Tensor:
    """Return in every cell of a row the number of the source word of its word: −∞ for END."""
    rows = len(translation(n, attention)[0])
    places = torch.tensor([*sentence(n).alignment, -math.inf])[:rows] + 1
    return places.unsqueeze(-1).expand(-1, n)


def alignment_scores(n: int) -> tuple[float, float]:
    """Return how many rows have their largest weight in the right place, and the mean weight there."""
    _, weights = translation(n, attention=True)
    places = torch.tensor(sentence(n).alignment)[: len(weights)]
    weights = weights[: len(places)]  # without END
    hits = (weights.argmax(-1) == places).double().mean().item()
    return hits, weights.gather(-1, places.unsqueeze(-1)).mean().item()


# The results of all seeds


@cache
def exact_matches(model: str) -> torch.Tensor:
    """Return the share of sentences that each seed translates without error, over LENGTHS: (SEEDS, lengths)."""
    return torch.tensor(
        [result.measured["exact_match"] for result in EXPERIMENT.results() if result.settings["model"] == model],
        dtype=torch.float64,
    )


def median(model: str, length: int) -> float:
    """Return the median exact match at a length."""
    return exact_matches(model)[:, LENGTHS.index(length)].median().item()


def line_height(n: int, attention: bool) -> list[float]:
    """Return how high the median line of a model is at a length, tested or not."""
    return [np.interp(n, LENGTHS, exact_matches(model(attention)).median(0).values).item()]


def share(n: int, attention: bool) -> str:
    """Return the median exact match at a length as text; a dash where that length was not tested."""
    return f"{median(model(attention), n):.2f}" if n in LENGTHS else "—"


def first_failed() -> int:
    """Return the least length of which no median translates a single sentence without error."""
    return next(
        length for length in LENGTHS if not any(median(model(attention), length) for attention in (False, True))
    )


def longest_right(model: str) -> int:
    """Return the largest length up to which the median translates nearly all sentences without error, or 0."""
    matches = zip(LENGTHS, exact_matches(model).median(0).values)
    good = [length for length, _ in takewhile(lambda pair: pair[1] >= NEARLY_ALL, matches)]
    return max(good, default=0)


def steps(model: str) -> str:
    """Return the least and the largest number of training steps over the seeds."""
    ended = [result.measured["steps"] for result in EXPERIMENT.results() if result.settings["model"] == model]
    return f"{min(ended)}–{max(ended)}"


# The figure

WEIGHTS: dict[str, Any] = {  # as arcs and as a matrix
    "matrix": log_weights,
    "rows": Text(zh="译文", en="translation"),
    "columns": Text(zh="原文", en="source"),
    "scale": Axis(Text(zh="权重", en="weight"), (-2, 0), symbol="α_{ij}", log10=True, resolution=0.005),
    "row_words": words_written,
    "column_words": lambda n: sentence(n).source,
}


def figure() -> Explorable:
    """Return the figure in the page's language."""
    return Explorable(
        "alignment",
        title=Text(
            zh=f"软对齐突破瓶颈：训练句长上限 {LONGEST} 词，注意力撑得更久",
            en=f"Trained on up to {LONGEST} words, soft alignment holds on longer than the bottleneck",
        ),
        caption=Text(
            zh="弧线和格子是同一组权重：写一个译文词时，原文各词各占多少。",
            en="Arcs and cells show the same weights: how much each word of the translation looks at each source word.",
        ),
        how_to_read=Text(
            zh="左列是原文，右列是模型逐个写出的译文；弧线越粗，写右边那个词时分给左边那个词的注意力权重越大。"
            "指着一个词，就只剩它的弧线，右边的格子也会标出来。写错的词前面有星号。矩阵的行就是右列的词（查询 i），列是原文的词"
            "（键 j），颜色是同一个权重，对数刻度，每行加起来恰为 1。译文用一种造出来的语言（名词以 o 结尾，形容词以 a，量词以 i），"
            "短语里的次序倒过来，所以正确的弧线在短语里两两交叉。固定瓶颈没有注意力权重：所有的词都从一个向量 c 里过，"
            "没有一条路径只通向某一个词，矩阵就画成斜纹。"
            f"曲线图的横轴是句长，纵轴是整句正确率，每个句长测 {TESTED} 句；细线是三个随机种子，粗线是它们的中位数，"
            f"竖的虚线是训练句长上限（{LONGEST} 个词），灰圈是当前的句长。",
            en="The left column is the source, the right one what the model writes, word by word. The wider an arc, the more "
            "attention weight the source word gets while the other is written. Point at a word to see only its arcs and "
            "its cell. A star marks a wrong word. The rows of the matrix are the words of the right column (queries i), its columns the "
            "words of the source (keys j); colour shows the same weight on a logarithmic scale, and each row adds up to exactly 1. "
            "The translation is in a made-up language (nouns end in o, adjectives in a, quantifiers in i) that reverses "
            "the order within a phrase, so correct arcs cross within a phrase. The fixed bottleneck has no attention weights: "
            "every word passes through one vector c, no path leads to a single word, and the matrix is hatched. The plot shows "
            f"the share of sentences without any mistake, out of {TESTED} at each length. Thin lines are three random "
            f"seeds, bold lines their median; the dashed vertical marks the longest training sentences ({LONGEST} words), "
            "the grey ring the current length.",
        ),
        limits=Text(
            zh="这是编出来的语言，没有歧义。两个翻译器都不大，固定的向量加宽以后也许会好一些。"
            "权重落在对的词上，说明对齐对了，不说明译文靠的就是它。",
            en="The language is made up and has no ambiguities. Both translators are small, and a wider fixed vector might do "
            "better. Weights on the right words show that the alignment is right, not that the translation relies on it.",
        ),
        controls=[
            Control("n", SHOWN, label=Text(zh="原文的词数", en="words of the source"), symbol="n", start=8),
            Control("attention", [False, True], label=Text(zh="有注意力", en="with attention"), start=True),
        ],
        panels=[
            Arcs(title=Text(zh="弧线", en="arcs"), through="c", mark="triangle", **WEIGHTS),
            Heatmap(
                title=Text(zh="对齐", en="alignment"),
                companion=Companion(right_places, Text(zh="对应的词 j =", en="the right word is j =")),
                **WEIGHTS,
            ),
            Lines(
                title=Text(zh="整句正确率随句长的变化", en="Sentences without a mistake against length"),
                x=Axis(
                    Text(zh="句长", en="length of the sentence"), (0, 25), symbol="n", unit=Text(zh="词", en="words")
                ),
                y=Axis(Text(zh="整句正确率", en="sentences without a mistake"), (-0.05, 1.09), resolution=0.01),
                series=[
                    Series(
                        lambda: exact_matches("attention"),
                        LENGTHS,
                        Text(zh="注意力", en="attention"),
                        "blue",
                        "triangle",
                    ),
                    Series(
                        lambda: exact_matches("bottleneck"), LENGTHS, Text(zh="固定瓶颈", en="bottleneck"), "vermilion"
                    ),
                    Series(
                        [0, 0.2],  # no higher, so that names of lines stand above it
                        [LONGEST, LONGEST],
                        Text(zh="训练句长上限", en="training ends"),
                        "grey",
                        "square",
                        dashed=True,
                    ),
                    Series(line_height, lambda n: [n], Text(zh="现在", en="now"), "grey", "circle"),
                ],
            ),
        ],
        rows=[3],
        sentence=Sentence(
            Text(
                zh="{model}写对 {n} 个词里的 {right} 个；该句长的整句正确率 {share}"
                f"（训练句长上限 {LONGEST} 词，{first_failed()} 词起几乎为 0）。",
                en="{model} gets {right} of {n} words right; {share} of such sentences are flawless "
                f"(training ended at {LONGEST} words; from {first_failed()}, almost none are).",
            ),
            model=Choice(
                lambda attention: int(attention),
                [Text(zh="固定瓶颈", en="The bottleneck"), Text(zh="注意力", en="Attention")],
            ),
            right=words_right,
            share=share,
        ),
        detail=Sentence(
            Text(
                zh="{weights}{hits}{then}{mass}{end}"
                f"训练中的句子最长 {LONGEST} 个词；在这个句长上，注意力的整句正确率是 {{attention_longest}}，固定瓶颈是 {{bottleneck_longest}}。"
                f"整句正确率不低于 {NEARLY_ALL} 的，注意力到 {{attention_lasts}} 个词为止，固定瓶颈到 {{bottleneck_lasts}} 个词为止；"
                f"到 {LENGTHS[-1]} 个词，注意力也只有 {{attention_far}}（均为三个种子的中位数）。"
                "两个翻译器按同一条规则停止训练：留出句子上的损失不再改善，就降低学习率；"
                f"降过 {FALLS} 次仍不再改善，训练就停止：注意力 {{attention_steps}} 步，固定瓶颈 {{bottleneck_steps}} 步。",
                en="{weights}{hits}{then}{mass}{end}"
                f"The longest training sentences have {LONGEST} words: attention translates {{attention_longest}} of them without a "
                "mistake, the bottleneck {bottleneck_longest}. "
                f"At least {NEARLY_ALL} of the sentences are flawless up to "
                "{attention_lasts} words with attention, up to {bottleneck_lasts} through the bottleneck; at "
                f"{LENGTHS[-1]} words attention too is down to {{attention_far}} (medians of three seeds). "
                "The same rule stopped both trainings: whenever the loss on held-out sentences stopped improving, the learning "
                f"rate was lowered; after {FALLS} such cuts training stopped: after {{attention_steps}} steps with attention, "
                "{bottleneck_steps} through the bottleneck.",
            ),
            weights=Choice(
                lambda attention: int(attention),
                [
                    Text(
                        zh="固定瓶颈没有注意力权重，整句都压在一个向量里。",
                        en="The bottleneck has no weights to show: one vector holds it all. ",
                    ),
                    Text(zh="权重最大的词正是对应的词，这样的行占 ", en="The largest weight is on the right word in "),
                ],
            ),
            hits=lambda n, attention: f"{alignment_scores(n)[0]:.2f}" if attention else "",
            then=Choice(
                lambda attention: int(attention),
                ["", Text(zh="，对应的词平均分到 ", en=" of the rows, and the right word gets ")],
            ),
            mass=lambda n, attention: f"{alignment_scores(n)[1]:.2f}" if attention else "",
            end=Choice(lambda attention: int(attention), ["", Text(zh=" 的权重。", en=" of the weight on average. ")]),
            attention_longest=lambda: f"{median('attention', LONGEST):.2f}",
            bottleneck_longest=lambda: f"{median('bottleneck', LONGEST):.2f}",
            attention_lasts=lambda: longest_right("attention"),
            bottleneck_lasts=lambda: longest_right("bottleneck"),
            attention_far=lambda: f"{median('attention', LENGTHS[-1]):.2f}",
            attention_steps=lambda: steps("attention"),
            bottleneck_steps=lambda: steps("bottleneck"),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
