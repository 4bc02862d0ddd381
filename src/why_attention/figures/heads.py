"""Figure heads: trained heads specialise: a previous-token head, and induction heads that look at what followed before.

The map is that of one head of the stored model of two layers (tasks/induction.py, seed 0) on one of some sequences; the
lines are the curves of its training. Any head can be removed.
"""

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
SEQUENCES = {
    3 * PART[:8]: Text(zh="8 个字母，重复三遍", en="8 letters, three times"),
    4 * PART[:5]: Text(zh="5 个字母，重复四遍", en="5 letters, four times"),
    2 * PART: Text(zh="12 个字母，重复两遍", en="12 letters, twice"),
    PART + "LXFKPBDAGRMT": Text(zh="12 个字母，第二遍打乱次序", en="12 letters, then in another order"),
    PART + "VNZCHJESQWUY": Text(zh="24 个字母，没有重复", en="24 letters, no repetition"),
}
HEADS = [(1, 1), (1, 2), (2, 1), (2, 2)]  # layer and head
NOTHING = "none"  # no head removed
HAS_A_JOB = 0.5  # the least score of a specialised head


def model_without(taken_out: str) -> AttentionOnly:
    """Return the trained model, or the model without a head such as 1.2, layer 1 and head 2."""
    return induction.load() if taken_out == NOTHING else remove_head(induction.load(), *map(int, taken_out.split(".")))


def weights(layer: int, head: int, sequence: str, ablate: str) -> Tensor:
    """Return the map of one head: (n, n), −∞ where the mask hides."""
    A = maps(tokens_of(sequence), model_without(ablate))[layer - 1, head - 1]
    return A.masked_fill(~causal_mask(*A.shape), -torch.inf)


@cache
def measures(ablate: str) -> dict:
    """Return accuracy and scores over the held-out sequences."""
    return induction.measures(model_without(ablate))


def job(layer: int, head: int, ablate: str) -> int:
    """Return 0 for a previous-token head, 1 for an induction head, 2 for any other."""
    jobs = [measures(ablate)[name][layer - 1][head - 1] >= HAS_A_JOB for name in ("previous", "induction")]
    return jobs.index(True) if any(jobs) else 2


def previous_text(layer: int, head: int, sequence: str, ablate: str) -> str:
    """Return the previous-token score of the map as text."""
    A = maps(tokens_of(sequence), model_without(ablate)).unsqueeze(0)
    return share(previous_token_score(A)[layer - 1, head - 1].item())


def induction_text(layer: int, head: int, sequence: str, ablate: str) -> str:
    """Return the induction score of the map as text; a dash where no token repeats."""
    if len(set(sequence)) == len(sequence):
        return "—"
    tokens = tokens_of(sequence).unsqueeze(0)
    A = maps(tokens[0], model_without(ablate)).unsqueeze(0)
    return share(induction_score(A, tokens)[layer - 1, head - 1].item())


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


def figure() -> Explorable:
    """Return the figure in the page's language."""
    last = steps()[-1]
    return Explorable(
        "heads",
        title=Text(zh="训练出来的头，各有各的活", en="Trained heads have jobs"),
        caption=Text(
            zh="行是查询，列是键，颜色是这个头的权重。",
            en="Rows are queries, columns keys; colour is the head's weight.",
        ),
        how_to_read=Text(
            zh="读图：注意力图一行是一个查询 i，一列是一个键 j，字母就是那里的 token；颜色是查询分给键的权重，每行加起来恰为 1，"
            "斜纹是掩码不许看的后文。一条斜线表示这个头总看同样距离的地方：紧贴对角线的是前一个 token，"
            "离得远的是同一个字母以前出现时的下一个 token。模型只有注意力：两层，每层两个头，由随机种子 0 训练；训练只练下一个 token 定得下来的地方。"
            "曲线图是训练的过程，纵轴有两种量：在重复的部分，下一个 token 猜对的比例；"
            "第 1 层最像前一个 token 头的那个头的得分，第 2 层最像归纳头的那个头的得分。"
            "细线是三个随机种子，粗线是中位数；灰点是现在这个模型。",
            en="How to read it: a row of the map is a query i, a column a key j, and the letters are their tokens; the colour is "
            "the weight that the query gives to the key. Each row adds up to exactly 1, and hatching is what comes later, which "
            "the mask hides. A stripe means that the head always looks equally far back: right below the diagonal, at the "
            "previous token; farther away, at the token after an earlier occurrence of the same letter. The model is attention "
            "alone, two layers of two heads, trained from random seed 0, and only where the next token is determined. "
            "In the plot, its training: how often the next token is right where the sequence repeats; the score of the head of layer 1 "
            "that is most of a previous-token head, and that of the head of layer 2 that is most of an induction head. Thin lines are three "
            "random seeds, bold ones their median; the grey dot is the model as it is now.",
        ),
        controls=[
            Control("layer", [1, 2], label=Text(zh="第几层", en="layer"), continuous=False),
            Control("head", [1, 2], label=Text(zh="第几个头", en="head"), start=2, continuous=False),
            Control("sequence", SEQUENCES, label=Text(zh="序列", en="Sequence")),
            Control(
                "ablate",
                {NOTHING: Text(zh="一个也不去掉", en="none")}
                | {
                    f"{layer}.{head}": Text(zh=f"第 {layer} 层第 {head} 个头", en=f"head {head} of layer {layer}")
                    for layer, head in HEADS
                },
                label=Text(zh="去掉一个头（输出置 0）", en="Take out a head (its output becomes 0)"),
                advanced=True,
            ),
        ],
        panels=[
            Heatmap(
                weights,
                title=Text(zh="这个头的权重", en="weights of the head"),
                rows=Text(zh="查询 i", en="query i"),
                columns=Text(zh="键 j", en="key j"),
                row_words=lambda sequence: list(sequence),
                column_words=lambda sequence: list(sequence),
                scale=Axis(Text(zh="权重", en="weight"), (0, 1), symbol="a_{ij}", resolution=0.01),
            ),
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
                        "diamond",
                        dashed=True,
                    ),
                    Series(
                        best_heads("induction", layer=2),
                        steps(),
                        Text(zh="归纳", en="induction"),
                        "blue",
                        "square",
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
        sentence=Sentence(
            Text(
                zh="第 {layer} 层第 {head} 个头{job}：在这个序列上，平均有 {previous} 的权重落在前一个 token 上；token 重复的地方，落在它以前出现时的下一个 token 上的有 {followed}。"
                "读完这个序列，模型猜接下来是 {guess}，概率 {probability}{ground}。"
                "{state}，测试序列重复的部分猜对的比例是 {accuracy}；只有一层的模型是 {control}。",
                en="Head {head} of layer {layer} {job}: on this sequence, on average {previous} of its weight is on the previous "
                "token; where a token repeats, on the tokens after its earlier occurrences it is {followed}. After the sequence the model expects {guess}, with probability {probability}{ground}. "
                "{state}, it is right on {accuracy} of what repeats in the sequences for testing; a model of one layer, on {control}.",
            ),
            job=Choice(
                job,
                [
                    Text(zh="是前一个 token 头", en="is a previous-token head"),
                    Text(zh="是归纳头", en="is an induction head"),
                    Text(zh="两种头都算不上", en="is neither a previous-token head nor an induction head"),
                ],
            ),
            previous=previous_text,
            followed=induction_text,
            guess=lambda sequence, ablate: next_token(sequence, ablate)[0],
            probability=lambda sequence, ablate: share(next_token(sequence, ablate)[1]),
            ground=Choice(
                ground,
                [
                    Text(
                        zh="，末尾的字母以前出现时，跟在后面的正是它",
                        en=", which is what followed that letter earlier",
                    ),
                    Text(
                        zh="，可是末尾的字母以前出现时，跟在后面的不是它",
                        en=", which is not what followed that letter earlier",
                    ),
                    Text(
                        zh="，可是末尾的字母以前没有出现过，无从猜起：没练过的地方，它不知道自己不知道",
                        en=", though the last letter is new and nothing tells what comes: where it was not trained, it does not know that it does not know",
                    ),
                ],
            ),
            state=Choice(
                lambda ablate: int(ablate != NOTHING),
                [
                    Text(zh="四个头都在", en="With all four heads"),
                    Text(zh="去掉一个头以后", en="With one head taken out"),
                ],
            ),
            accuracy=lambda ablate: share(measures(ablate)["accuracy"]),
            control=lambda: share(results(1)[0]["accuracy"]),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
