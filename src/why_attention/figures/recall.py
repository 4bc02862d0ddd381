"""Figure recall: how far back networks learn to remember, and the initial gradient, which predicts most of it.

All results are stored (tasks/recall.py): three seeds of nine models on sequences of T. A run without training has no
accuracy, but an initial gradient.

The threshold of that gradient is chosen on the runs drawn, and tested on other lengths and seeds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from explorable import Axis, Choice, Control, Explorable, Lines, Rule, Sentence, Series, Text
from explorable.numbers import power_text
from why_attention.figure_cache import figure_cache
from why_attention.one_thread import one_thread
from why_attention.tasks.experiment import Experiment
from why_attention.tasks.recall import (
    CHANCE,
    EVERY,
    EXPERIMENT,
    HELD_OUT,
    LEARNED,
    LENGTHS,
    SEEDS,
    STEPS,
    TRAINED,
    longest_learned,
    median_accuracy,
    stored_accuracy,
    stored_runs,
)

ALL = "all"  # seeds
UNORDERED = "attention without positions"


@dataclass(frozen=True)
class Model:
    """The name of a model in the control, its name in the plots, and the look of its lines."""

    name: str | Text
    label: str | Text
    mark: str
    dashed: bool = False


RECURRENCE: dict[str, Model] = {
    "RNN": Model("RNN", "RNN", "circle"),
    "RNN orthogonal": Model(
        Text(zh="正交 RNN", en="orthogonal RNN"), Text(zh="正交 RNN", en="orthogonal"), "cross", True
    ),
    "LSTM b=0": Model("LSTM, b=0", "LSTM, b=0", "triangle", True),
    "LSTM b=1": Model("LSTM, b=1", "LSTM, b=1", "diamond"),
    "LSTM chrono": Model("LSTM, chrono", "chrono", "wedge"),
}
CONVOLUTION: dict[str, Model] = {
    "CNN": Model(Text(zh="卷积", en="convolution"), Text(zh="卷积", en="convolution"), "square"),
    "dilated CNN": Model(
        Text(zh="膨胀卷积", en="dilated convolution"), Text(zh="膨胀卷积", en="dilated"), "diamond", True
    ),
}
ATTENTION: dict[str, Model] = {
    "attention": Model(Text(zh="注意力", en="attention"), Text(zh="注意力", en="attention"), "triangle"),
    UNORDERED: Model(
        Text(zh="无位置编码的注意力", en="attention, no positions"),
        Text(zh="无位置编码", en="no positions"),
        "wedge",
        True,
    ),
}
FAMILIES = [  # name, colour, mark, models
    (Text(zh="循环", en="Recurrence"), "vermilion", "circle", RECURRENCE),
    (Text(zh="卷积", en="Convolution"), "green", "square", CONVOLUTION),
    (Text(zh="注意力", en="Attention"), "blue", "triangle", ATTENTION),
]
MODELS = RECURRENCE | CONVOLUTION | ATTENTION


def log_gradient(model: str, T: int, seed: int) -> float:
    return log10_of(stored_runs()[model, T, seed])


def log10_of(measured: dict) -> float:
    """Return log10 ‖∂L/∂e_1‖ of a run before training, −∞ without a path."""
    return -math.inf if measured["log_gradient"] is None else measured["log_gradient"]


def seeds_for(seed: str) -> list[int]:
    return SEEDS if seed == ALL else [int(seed)]


def accuracies(model: str) -> Callable:
    """Return a function of the controls: the accuracies of a model over the T of its training, a row a seed."""
    trained = [T for T in LENGTHS if T <= TRAINED[model]]
    return lambda seed, step: [[stored_accuracy(model, T, one, step) for T in trained] for one in seeds_for(seed)]


def gradients(model: str) -> Callable:
    """Return a function of the controls: log10 of the gradients of a model over all T, a row a seed."""
    return lambda seed: [[log_gradient(model, T, one) for T in LENGTHS] for one in seeds_for(seed)]


def longest_text(model: str, seed: str, step: int) -> str:
    """Return the longest T that a model has learned, or a dash."""
    return str(longest_learned(model, seeds_for(seed), step) or "–")


# The threshold

Outcome = tuple[str, float, bool]  # of a trained run: model, log10 of its gradient, whether it has learned


def outcomes(experiment: Experiment) -> list[Outcome]:
    return [
        (run.settings["model"], log10_of(run.measured), run.measured["accuracy"] >= LEARNED)
        for run in experiment.results()
        if "accuracy" in run.measured
    ]


def errors(threshold: float, runs: list[Outcome]) -> tuple[list[str], list[str]]:
    """Return the models of runs that learned below a threshold of the gradient, and that did not learn above it."""
    below = [model for model, gradient, learned in runs if gradient <= threshold and learned]
    above = [model for model, gradient, learned in runs if gradient > threshold and not learned]
    return below, above


def best_threshold(runs: list[Outcome]) -> float:
    """Return the threshold, log10 of the gradient, with the fewest errors, in the middle of the widest gap."""
    places = sorted({gradient for _, gradient, _ in runs if gradient > -math.inf})
    gaps = [((low + high) / 2, high - low) for low, high in zip(places, places[1:])]
    return min(gaps, key=lambda gap: (sum(map(len, errors(gap[0], runs))), -gap[1]))[0]


# Values of the sentence and the panels


def accuracy_text(model: str, T: int, seed: str, step: int) -> str:
    """Return the median accuracy; nothing without training."""
    return "" if T > TRAINED[model] else f"{median_accuracy(model, T, seeds_for(seed), step):.2f}"


def range_text(model: str, T: int, seed: str, step: int) -> str:
    """Return the lowest and the highest accuracy of the seeds; a dash without training."""
    if T > TRAINED[model]:
        return "–"
    each = [stored_accuracy(model, T, one, step) for one in seeds_for(seed)]
    return f"{min(each):.2f} … {max(each):.2f}"


def median_gradient(model: str, T: int, seed: str) -> float:
    return median([log_gradient(model, T, one) for one in seeds_for(seed)])


def lines(y: Callable, longest: dict[str, int], models: dict[str, Model], color: str) -> list[Series]:
    """Return a series for each model of a family, up to its longest T; in colour for the model chosen."""
    return [
        Series(
            y(name),
            [math.log10(T) for T in LENGTHS if T <= longest[name]],
            model.label,
            color,
            model.mark,
            model.dashed,
            focus=("model", name),
        )
        for name, model in models.items()
    ]


def chosen(limits: tuple[float, float]) -> Series:
    """Return the upright line at the T that the reader has chosen."""
    return Series(list(limits), lambda T: [math.log10(T)] * 2, "T", "grey", "cross")


def figure() -> Explorable:
    """Return the figure in the page's language."""
    old, new = outcomes(EXPERIMENT), outcomes(HELD_OUT)
    best = best_threshold(old)
    below, above = errors(best, new)
    across = Axis(Text(zh="序列长度", en="length"), (0.85, 3.06), "T", log10=True, resolution=1e-6)
    gradient = Axis(
        Text(zh="训练前的梯度", en="gradient before training"), (-10, 0), "‖∂L/∂e_1‖", log10=True, resolution=0.005
    )
    accuracy = Axis(Text(zh="训练后的准确率", en="trained accuracy"), (0, 1.05), resolution=0.0005)

    def verdict(model: str, T: int, seed: str, step: int) -> int:
        """Return 0 without training, else 1 + 2 × (above the threshold) + (learned)."""
        if T > TRAINED[model]:
            return 0
        learned = median_accuracy(model, T, seeds_for(seed), step) >= LEARNED
        return 1 + 2 * (median_gradient(model, T, seed) > best) + learned

    return Explorable(
        "recall",
        title=Text(zh="起步时梯度太小，几乎都学不会", en="With too small a gradient at the start, hardly any learn"),
        caption=Text(
            zh="上：训练前传回首个符号的梯度；下：训练后的准确率，线停处没有训练。彩色：选中的模型。",
            en="Above, the gradient at the first symbol; below, accuracy, where trained: lines end where nothing longer was. In colour, the model chosen.",
        ),
        how_to_read=Text(
            zh="序列有 T 个 token，第一个是 8 个符号之一，中间是同样的符号作干扰，最后一个是提问，要答出第一个符号。"
            "横轴都是 T，对数刻度。上面一排是训练之前，损失对第一个符号的嵌入的梯度 ‖∂L/∂e₁‖，对数刻度，线笔直掉下去就是恰好为 0；"
            f"下面一排是训练后在新序列上的准确率，随机猜是 1/8，不低于 {LEARNED} 算学会了，线没有画到的地方没有训练。"
            "粗线是三个种子的中位数，选中的模型还用细线画出每个种子。"
            "b 是遗忘门的偏置；chrono 照着 T 取门的偏置；正交是用正交矩阵作初值。"
            "卷积有 8 层，k = 3，感受野 17；膨胀卷积有 8 层，k = 2，感受野 256。",
            en="A sequence has T tokens: the first is one of 8 symbols, the same symbols follow as distractors, and the last "
            "asks which symbol came first. Across in all plots, T, on a logarithmic axis. The upper row has, before any "
            "training, the gradient of the loss with respect to the embedding of the first symbol, ‖∂L/∂e₁‖, on a logarithmic "
            "axis, where a line drops straight down to an exact 0; the lower row has the accuracy on new sequences after "
            f"training, where a guess has 1/8 and {LEARNED} counts as learned; where a line ends, nothing longer was trained. "
            "Bold lines are the median of three seeds, thin ones the seeds of the model chosen. b is the bias of the forget "
            "gate; chrono sets the biases of the gates by T; an orthogonal RNN starts from an orthogonal matrix. The "
            "convolution has 8 layers, k = 3 and a receptive field of 17; the dilated one 8 layers, k = 2 and 256.",
        ),
        limits=Text(
            zh=f"每个模型各用一个搜索出来的学习率，最多训练 {STEPS} 步：门槛不是定律，再练下去，它也许会移。"
            "没有学会的，再练也许会；没有训练的，不是没有学会。",
            en=f"Each model has a learning rate of its own, found by a search, and trains for {STEPS} steps at most: the "
            "threshold is no law, and with more steps it may move. What has not learned might with more steps; what was not "
            "trained has not failed.",
        ),
        controls=[
            Control(
                "T",
                LENGTHS,
                label=Text(zh="序列长度", en="length"),
                symbol="T",
                start=64,
                continuous=False,
            ),
            Control(
                "model",
                {name: model.name for name, model in MODELS.items()},
                label=Text(zh="模型", en="Model"),
                start="LSTM b=1",
            ),
            Control(
                "seed",
                {ALL: Text(zh="全部", en="all three"), **{str(seed): str(seed) for seed in SEEDS}},
                label=Text(zh="随机种子", en="Random seed"),
                advanced=True,
            ),
            Control(
                "step",
                list(range(0, STEPS + 1, 2 * EVERY)),
                label=Text(zh="训练步数", en="steps of training"),
                start=STEPS,
                advanced=True,
                continuous=False,
            ),
        ],
        panels=[
            *(
                Lines(
                    title=family,
                    x=across,
                    y=gradient,
                    series=[*lines(gradients, dict.fromkeys(MODELS, LENGTHS[-1]), models, color), chosen((-10, 0))],
                    rules=[Rule(best, Text(zh="可学门槛", en="threshold"))],
                    narrow=True,
                    color=color,
                    mark=mark,
                )
                for family, color, mark, models in FAMILIES
            ),
            *(
                Lines(
                    title=family + Text(zh="，训练之后", en=", after training"),
                    x=across,
                    y=accuracy,
                    series=[*lines(accuracies, TRAINED, models, color), chosen((0, 1.05))],
                    rules=[
                        Rule(CHANCE, Text(zh="随机猜 1/8", en="a guess, 1/8")),
                        Rule(LEARNED, Text(zh="学会了", en="learned")),
                    ],
                    narrow=True,
                )
                for family, color, mark, models in FAMILIES
            ),
        ],
        rows=[3, 3],
        sentence=Sentence(
            Text(
                zh="T = {T}，{model}：训练前梯度 {gradient}，{side}；{told}{accuracy}{verdict}",
                en="{model}, T = {T}: initial gradient {gradient}, {side}; {told}{accuracy}{verdict}",
            ),
            gradient=lambda model, T, seed: power_text(median_gradient(model, T, seed)),
            side=Choice(
                lambda model, T, seed: int(median_gradient(model, T, seed) > best),
                [Text(zh="低于门槛", en="below the threshold"), Text(zh="高于门槛", en="above the threshold")],
            ),
            told=Choice(
                lambda model, T: int(T <= TRAINED[model]),
                [
                    Text(zh="这么长没有训练。", en="not trained so long."),
                    Text(zh="训练后准确率 ", en="trained accuracy "),
                ],
            ),
            accuracy=accuracy_text,
            verdict=Choice(
                verdict,
                [
                    "",
                    Text(zh="，没学会。", en=", not learned."),
                    Text(zh="，却学会了。", en=", yet learned."),
                    Text(zh="，却没学会。", en=", yet not learned."),
                    Text(zh="，学会了。", en=", learned."),
                ],
            ),
        ),
        detail=Sentence(
            Text(
                zh="{model}，T = {T}，最多训练 {step} 步：各个种子的准确率是 {range}（– 是没有训练）。"
                "它学会了的最长的 T 是 {longest}（– 是没有；最长试到 {trained}）。门槛是梯度 {best}，从图中的 {old} 次训练里选出：大于它的学会、"
                "小于它的没学会，说中 {right_old} 次。换上没有参与挑选的 {new} 次，说中 {right_new} 次：小于它却学会的有 {below} 次；"
                "大于它却没学会的有 {above} 次，其中 {unordered} 次是无位置编码的注意力，它分不出哪个符号排在第一。",
                en="{model}, T = {T}, at most {step} steps of training: the accuracies of the seeds are {range} (– for no "
                "training). The longest T that it learned is {longest} (– for none; the longest tried, {trained}). The threshold, "
                "a gradient of {best}, was chosen on the {old} runs drawn: that runs above it learn and runs below it do not "
                "is right for {right_old}. Of {new} other runs, which did not choose it, it is right for {right_new}: {below} "
                "learned below it; {above} did not above it, {unordered} of them attention without positions, which cannot tell "
                "which symbol came first.",
            ),
            range=range_text,
            longest=longest_text,
            trained=lambda model: str(TRAINED[model]),
            best=lambda: power_text(best),
            old=lambda: str(len(old)),
            right_old=lambda: str(len(old) - sum(map(len, errors(best, old)))),
            new=lambda: str(len(new)),
            right_new=lambda: str(len(new) - len(below) - len(above)),
            below=lambda: str(len(below)),
            above=lambda: str(len(above)),
            unordered=lambda: str(above.count(UNORDERED)),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
