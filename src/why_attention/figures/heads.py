"""Figure heads: trained heads specialise: a previous-token head, and induction heads that look at what followed before.

The maps are those of all heads of the stored model of two layers (tasks/induction.py, seed 0) on one of some sequences;
the lines are the curves of its training. Any head can be removed.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from explorable import Axis, Choice, Control, Explorable, Heatmap, Lines, Sentence, Series, Text
from why_attention.figure_cache import figure_cache
from why_attention.masks import causal_mask
from why_attention.one_thread import one_thread
from why_attention.tasks import induction
from why_attention.tasks.induction import (
    EXPERIMENT,
    SYMBOLS,
    AttentionOnly,
    induction_score,
    maps,
    previous_token_score,
    remove_head,
    tokens_of,
)

PART = "KDTRXBMFGPAL"  # letters in no order
SEQUENCES = {  # 16 letters at most: each of them can be read beside its row
    2 * PART[:8]: Text(zh="8 个字母，重复两遍", en="8 letters, twice"),
    3 * PART[:5]: Text(zh="5 个字母，重复三遍", en="5 letters, three times"),
    PART[:8] + "RKXDFTMB": Text(zh="8 个字母，第二遍打乱次序", en="8 letters, then in another order"),
    PART + "VNZC": Text(zh="16 个字母，没有重复", en="16 letters, no repetition"),
}
HEADS = [(1, 1), (1, 2), (2, 1), (2, 2)]  # layer and head
MARKS = {1: "diamond", 2: "square"}  # of the heads of a layer
NOTHING = "none"  # no head removed
HAS_A_JOB = 0.5  # the least score of a specialised head


def model_without(taken_out: str) -> AttentionOnly:
    """Return the trained model, or the model without a head such as 1.2, layer 1 and head 2."""
    return induction.load() if taken_out == NOTHING else remove_head(induction.load(), *map(int, taken_out.split(".")))


def name_of(layer: int, head: int) -> str:
    return f"{layer}.{head}"


@cache
def all_maps(sequence: str, ablate: str) -> Tensor:
    """Return the maps of all heads: (layers, heads, n, n)."""
    return maps(tokens_of(sequence), model_without(ablate))


def weights(layer: int, head: int) -> Callable[[str, str], Tensor]:
    """Return the map of one head as a function of sequence and head removed: (n, n), −∞ where the mask hides."""

    def weights(sequence: str, ablate: str) -> Tensor:
        A = all_maps(sequence, ablate)[layer - 1, head - 1]
        return A.masked_fill(~causal_mask(*A.shape), -torch.inf)

    return weights


@cache
def measures(ablate: str) -> dict:
    """Return accuracy and scores over the held-out sequences."""
    return induction.measures(model_without(ablate))


def job_of(scores: list[float]) -> int:
    """Return 0 for a previous-token head, 1 for an induction head, 2 for neither."""
    jobs = [score >= HAS_A_JOB for score in scores]
    return jobs.index(True) if any(jobs) else 2


def job(layer: int, head: int) -> Choice:
    """Return the words of a head's job: previous-token head, induction head, or neither."""

    return Choice(
        lambda ablate: job_of([measures(ablate)[name][layer - 1][head - 1] for name in ("previous", "induction")]),
        [
            Text(zh="前一个 token 头", en="a previous-token head"),
            Text(zh="归纳头", en="an induction head"),
            Text(zh="别的头", en="neither kind"),
        ],
    )


def previous(layer: int, head: int) -> Callable[[str, str], str]:
    """Return the previous-token score of a head's map as text."""
    return lambda sequence, ablate: share(
        previous_token_score(all_maps(sequence, ablate).unsqueeze(0))[layer - 1, head - 1].item()
    )


def followed(layer: int, head: int) -> Callable[[str, str], str]:
    """Return the induction score of a head's map as text; a dash where no token repeats."""

    def text(sequence: str, ablate: str) -> str:
        if len(set(sequence)) == len(sequence):
            return "—"
        A = all_maps(sequence, ablate).unsqueeze(0)
        return share(induction_score(A, tokens_of(sequence).unsqueeze(0))[layer - 1, head - 1].item())

    return text


@cache
def next_token(sequence: str, ablate: str) -> tuple[str, float]:
    """Return the most likely next symbol after a sequence, and its probability."""
    logits, _ = model_without(ablate)(tokens_of(sequence).unsqueeze(0))
    probability, token = logits[0, -1].softmax(-1).max(-1)
    return SYMBOLS[token], probability.item()


def ground(sequence: str, ablate: str) -> int:
    """Return 0 if the prediction followed the last token before, 1 if not, 2 if that token is new."""
    before, last = sequence[:-1], sequence[-1]
    after = {sequence[i + 1] for i, token in enumerate(before) if token == last}
    return 2 if not after else int(next_token(sequence, ablate)[0] not in after)


@cache
def results(layers: int) -> list[dict]:
    """Return the measurements of every seed."""
    return [result.measured for result in EXPERIMENT.results() if result.settings["layers"] == layers]


def steps() -> list[int]:
    return results(2)[0]["curves"]["step"]


def accuracies(layers: int) -> Tensor:
    """Return the accuracy in training, of every seed: (seeds, steps)."""
    return torch.tensor([one["curves"]["accuracy"] for one in results(layers)])


def best_heads(name: str, layer: int) -> Tensor:
    """Return the training curve of a score, for the head of a layer with the highest final score: (seeds, steps)."""
    curves = torch.tensor([one["curves"][name] for one in results(2)])[:, :, layer - 1]  # (seeds, steps, heads)
    return torch.stack([curve[:, curve[-1].argmax()] for curve in curves])


def share(number: float) -> str:
    return f"{number:.2f}"


def trained_job(layer: int, head: int) -> int:
    """Return which job a head of the stored model, seed 0, has after training, as ``job_of`` does."""
    curves = results(2)[0]["curves"]
    return job_of([curves[name][-1][layer - 1][head - 1] for name in ("previous", "induction")])


def title(layer: int, head: int) -> Text:
    """Return the name of a head, and its job, if it has one."""
    name = Text(zh=f"头 {layer}.{head}", en=f"head {layer}.{head}")
    jobs = [Text(zh="：前一个", en=": previous"), Text(zh="：归纳", en=": induction"), Text(zh="", en="")]
    return name + jobs[trained_job(layer, head)]


def panel(layer: int, head: int) -> Heatmap:
    """Return the panel of one head's map."""
    return Heatmap(
        weights(layer, head),
        title=title(layer, head),
        rows=Text(zh="查询 i", en="query i"),
        columns=Text(zh="键 j", en="key j"),
        row_words=lambda sequence: list(sequence),
        column_words=lambda sequence: list(sequence),
        scale=Axis(Text(zh="权重", en="weight"), (0, 1), symbol="a_{ij}", resolution=0.01),
        color="blue",
        mark=MARKS[layer],
        faint_at=("ablate", name_of(layer, head)),
    )


def of_each_head(words: Callable[[int, int], Callable | Choice], name: str) -> dict:
    """Return a slot for each head: name11, name12, …"""
    return {f"{name}{layer}{head}": words(layer, head) for layer, head in HEADS}


def figure() -> Explorable:
    """Return the figure in the page's language."""
    last = steps()[-1]
    return Explorable(
        "heads",
        title=Text(zh="训练出来的头，各有分工", en="Trained heads have jobs"),
        caption=Text(
            zh="四个头读同一个序列：行是查询，列是键，越亮权重越大。",
            en="Four heads read one sequence: rows are queries, columns keys; the brighter, the more weight.",
        ),
        how_to_read=Text(
            zh="头 2.1 是第 2 层的第 1 个头。一行是一个查询 i，一列是一个键 j，字母就是那里的 token；颜色是查询分给键的权重，每行加起来恰为 1，"
            "斜纹是掩码挡住的后文。指着一格，四幅图里同一格都会标出来。一条斜线表示这个头总看同样距离的地方："
            "紧贴对角线的是前一个 token，离得远的是同一个字母上次出现时的下一个 token。去掉一个头，是把它的输出置 0，"
            "它的图随之变淡。曲线图是训练的过程，纵轴有两种量：在重复的部分，下一个 token 猜对的比例；"
            "第 1 层最像前一个 token 头的那个头的得分，第 2 层最像归纳头的那个头的得分。"
            "细线是三个随机种子，粗线是中位数；灰点是现在这个模型。",
            en="Head 2.1 is head 1 of layer 2. A row is a query i, a column a key j, and the letters are their tokens. Colour is the weight that the query "
            "gives to the key; each row adds up to exactly 1, and hatching is what comes later, which the mask hides. "
            "Point at a cell, and all four maps mark it. A stripe means that the head always looks equally far back: right "
            "below the diagonal, at the previous token; farther away, at the token after an earlier occurrence of the same "
            "letter. To take out a head is to set its output to 0; its map fades. The plot shows training: how often the "
            "next token is right where the sequence repeats; the score of the head of layer 1 that is most of a "
            "previous-token head; and that of the head of layer 2 that is most of an induction head. Thin lines are three "
            "random seeds, bold ones their median; the grey dot is the model as it is now.",
        ),
        limits=Text(
            zh="模型很小，只有注意力：两层，每层两个头，由随机种子 0 训练，只练下一个 token 定得下来的地方。"
            "没练过的地方，它照样给出一个答案。大模型里的头有没有这样一句话说得清的分工，这里没有量。",
            en="The model is small and nothing but attention: two layers of two heads, trained from random seed 0, and only "
            "where the next token is determined. Where it was not trained, it answers all the same. Whether the heads of a "
            "large model have jobs that fit into one sentence was not measured here.",
        ),
        controls=[
            Control("sequence", SEQUENCES, label=Text(zh="序列", en="sequence")),
            Control(
                "ablate",
                {NOTHING: Text(zh="不去掉", en="none")}
                | {
                    name_of(layer, head): Text(
                        zh=f"第 {layer} 层：头 {layer}.{head}", en=f"layer {layer}: head {layer}.{head}"
                    )
                    for layer, head in HEADS
                },
                label=Text(zh="去掉一个头", en="take out a head"),
            ),
        ],
        panels=[
            *(panel(layer, head) for layer, head in HEADS),
            Lines(
                title=Text(zh="训练中的准确率和头的得分", en="Accuracy, and scores of heads, in training"),
                x=Axis(Text(zh="训练步数", en="training steps"), (-0.02 * last, 1.03 * last)),
                y=Axis(Text(zh="准确率，得分", en="accuracy, score"), (0, 1.05), resolution=0.002),
                series=[
                    Series(accuracies(2), steps(), Text(zh="两层", en="two layers"), "blue", "triangle"),
                    Series(accuracies(1), steps(), Text(zh="一层", en="one layer"), "grey", "cross"),
                    Series(
                        best_heads("previous", layer=1),
                        steps(),
                        Text(zh="看前一个", en="previous"),
                        "blue",
                        MARKS[1],
                        dashed=True,
                    ),
                    Series(
                        best_heads("induction", layer=2),
                        steps(),
                        Text(zh="归纳", en="induction"),
                        "blue",
                        MARKS[2],
                        dashed=True,
                    ),
                    Series(
                        lambda ablate: [measures(ablate)["accuracy"]],
                        [last],
                        Text(zh="现在", en="now"),
                        "grey",
                        "circle",
                    ),
                ],
            ),
        ],
        rows=[4, 1],
        sentence=Sentence(
            Text(
                zh="{state}，重复的部分猜对 {accuracy}；这里猜下一个是 {guess}（概率 {probability}）。",
                en="{state}, it is right on {accuracy} of what repeats; here it expects {guess} next ({probability}).",
            ),
            state=Choice(
                lambda ablate: int(ablate != NOTHING),
                [
                    Text(zh="四个头都在", en="With all four heads"),
                    Text(zh="去掉一个头以后", en="With one head taken out"),
                ],
            ),
            accuracy=lambda ablate: share(measures(ablate)["accuracy"]),
            guess=lambda sequence, ablate: next_token(sequence, ablate)[0],
            probability=lambda sequence, ablate: share(next_token(sequence, ablate)[1]),
        ),
        detail=Sentence(
            Text(
                zh="在测试序列上判定，第 1 层：第 1 头是{job11}，第 2 头是{job12}；第 2 层：第 1 头是{job21}，第 2 头是{job22}。"
                "在这个序列上，平均落在前一个 token 上的权重依次是 {previous11}、{previous12}、{previous21}、{previous22}；"
                "token 重复的地方，落在它以前出现时的下一个 token 上的依次是 {followed11}、{followed12}、{followed21}、{followed22}。"
                "猜的那个 token{ground}。只有一层的模型，测试序列重复的部分猜对 {control}。",
                en="On the sequences for testing: in layer 1, head 1 is {job11} and head 2 {job12}; in layer 2, head 1 is "
                "{job21} and head 2 {job22}. On this sequence, in the same order, the weight on the previous token is on "
                "average {previous11}, {previous12}, {previous21} and {previous22}; where a token repeats, on the tokens "
                "after its earlier occurrences it is {followed11}, {followed12}, {followed21} and {followed22}. The token "
                "expected next {ground}. A model of one layer is right on {control} of what repeats in the sequences for testing.",
            ),
            **of_each_head(job, "job"),
            **of_each_head(previous, "previous"),
            **of_each_head(followed, "followed"),
            ground=Choice(
                ground,
                [
                    Text(zh="，正是末尾的字母以前出现时跟在后面的那个", en="is what followed the last letter earlier"),
                    Text(
                        zh="，不是末尾的字母以前出现时跟在后面的那个",
                        en="is not what followed the last letter earlier",
                    ),
                    Text(
                        zh="没有根据，因为末尾的字母以前没有出现过",
                        en="has nothing to stand on, since the last letter is new",
                    ),
                ],
            ),
            control=lambda: share(results(1)[0]["accuracy"]),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
