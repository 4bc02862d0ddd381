"""Figure recall: how far back networks learn to remember, and the initial gradient, which predicts most of it.

All results are stored (tasks/recall.py): three seeds of nine models on sequences of T. A run without training has no
accuracy, but an initial gradient.

The threshold of that gradient is chosen on the runs drawn, and tested on other lengths and seeds.
"""

import math
from statistics import median

import torch
from torch import Tensor

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
LOOKS: dict[
    str, tuple[str | Text, str | Text, str, str, bool]
] = {  # model: name in the control, short name in the plots, colour, mark, dashed
    "RNN": ("RNN", "RNN", "vermilion", "circle", False),
    "RNN orthogonal": (
        Text(zh="RNN，正交初始化", en="RNN, orthogonal start"),
        Text(zh="正交 RNN", en="orth. RNN"),
        "vermilion",
        "cross",
        True,
    ),
    "LSTM b=0": (Text(zh="LSTM，遗忘门偏置 0", en="LSTM, forget bias 0"), "LSTM b=0", "vermilion", "triangle", True),
    "LSTM b=1": (Text(zh="LSTM，遗忘门偏置 1", en="LSTM, forget bias 1"), "LSTM b=1", "vermilion", "diamond", False),
    "LSTM chrono": (
        Text(zh="LSTM，chrono 初始化", en="LSTM, chrono initialisation"),
        "chrono",
        "vermilion",
        "wedge",
        False,
    ),
    "CNN": (
        Text(zh="卷积，k=3，8 层，R=17", en="convolution, k=3, 8 layers, R=17"),
        "CNN",
        "green",
        "square",
        True,
    ),
    "dilated CNN": (
        Text(zh="膨胀卷积，k=2，8 层，R=256", en="dilated convolution, k=2, 8 layers, R=256"),
        Text(zh="膨胀", en="dilated"),
        "green",
        "diamond",
        False,
    ),
    "attention": (
        Text(zh="注意力，有位置", en="attention with positions"),
        Text(zh="注意力", en="attention"),
        "blue",
        "triangle",
        False,
    ),
    UNORDERED: (
        Text(zh="注意力，没有位置", en="attention without positions"),
        Text(zh="无位置", en="no positions"),
        "blue",
        "wedge",
        True,
    ),
}


def log_gradient(model: str, T: int, seed: int) -> float:
    return log10_of(stored_runs()[model, T, seed])


def log10_of(measured: dict) -> float:
    """Return log10 ‖∂L/∂e_1‖ of a run before training, −∞ without a path."""
    return -math.inf if measured["log_gradient"] is None else measured["log_gradient"]


def seeds_for(seed: str) -> list[int]:
    return SEEDS if seed == ALL else [int(seed)]


def seeds_of(one: str, model: str, rows: list[list[float]]) -> Tensor:
    """Return the rows of all seeds for the chosen model, and their median for any other."""
    family = torch.tensor(rows, dtype=torch.float64)
    return family if one == model else family.median(0, keepdim=True).values


def accuracies(one: str):
    """Return a function of the controls: the accuracies of a model over the T of its training, a row a seed."""
    trained = [T for T in LENGTHS if T <= TRAINED[one]]
    return lambda model, seed, step: seeds_of(
        one, model, [[stored_accuracy(one, T, number, step) for T in trained] for number in seeds_for(seed)]
    )


def gradients(one: str):
    """Return a function of the controls: log10 of the gradients of a model over all T, a row a seed."""
    return lambda model, seed: seeds_of(
        one, model, [[log_gradient(one, T, number) for T in LENGTHS] for number in seeds_for(seed)]
    )


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
    """Return the median accuracy and the range of several seeds; empty without training."""
    if T > TRAINED[model]:
        return ""
    each = [stored_accuracy(model, T, one, step) for one in seeds_for(seed)]
    spread = f" ({min(each):.2f} … {max(each):.2f})" if len(each) > 1 else ""
    return f"{median(each):.2f}{spread}"


def median_gradient(model: str, T: int, seed: str) -> float:
    return median([log_gradient(model, T, one) for one in seeds_for(seed)])


def verdict(model: str, T: int, seed: str, step: int) -> int:
    """Return 0, 1 or 2: not trained, not learned, learned."""
    return 0 if T > TRAINED[model] else 1 + int(median_accuracy(model, T, seeds_for(seed), step) >= LEARNED)


def now(model: str, T: int) -> list[float]:
    """Return the place of T on the axis; outside it for a run without training."""
    return [math.log10(T) if T <= TRAINED[model] else -1.0]


def lines(y, longest: dict[str, int]) -> list[Series]:
    """Return a series for each model, up to its longest T."""
    return [
        Series(y(model), [math.log10(T) for T in LENGTHS if T <= longest[model]], label, color, mark, dashed)
        for model, (_, label, color, mark, dashed) in LOOKS.items()
    ]


NOW = Text(zh="当前", en="now")


def figure() -> Explorable:
    """Return the figure in the page's language."""
    old, new = outcomes(EXPERIMENT), outcomes(HELD_OUT)
    best = best_threshold(old)
    below, above = errors(best, new)
    across = Axis(Text(zh="序列长度", en="length of the sequence"), (0.85, 3.06), "T", log10=True, resolution=1e-6)
    return Explorable(
        "recall",
        title=Text(zh="记住第一个符号：谁记得多远", en="Remember the first symbol: who remembers how far"),
        caption=Text(
            zh="左：训练前的梯度；右：训练后答对的比例。",
            en="Left: the gradient before training. Right: accuracy after it.",
        ),
        how_to_read=Text(
            zh="读图：序列有 T 个 token，第一个是 8 个符号之一，中间是同样的符号作干扰，最后一个是提问，要答出第一个符号。"
            "两幅图的横轴都是 T，对数刻度。一幅的纵轴是训练后在新序列上的准确率，瞎猜是 1/8；"
            "另一幅是训练之前，损失对第一个符号的嵌入的梯度 ‖∂L/∂e₁‖，对数刻度，线笔直掉下去就是恰好为 0。"
            "橙红的是循环，绿的是卷积，蓝的是注意力。粗线是三个种子的中位数，选中的模型还用细线画出每个种子。"
            f"准确率不低于 {LEARNED} 的，算学会了。每个模型各用一个搜索出来的学习率，最多训练 {STEPS} 步。有些组合没有训练，准确率那幅图就空着，只画梯度。",
            en="How to read it: a sequence has T tokens: the first is one of 8 symbols, the same symbols follow as distractors, "
            "and the last asks which symbol came first. Across in both plots, T, on a logarithmic axis. Upwards in one, the "
            "accuracy on new sequences after training, where a guess has 1/8; in the other, before any training, the gradient of "
            "the loss with respect to the embedding of the first symbol, ‖∂L/∂e₁‖, on a logarithmic axis, where a line drops "
            "straight down to an exact 0. Recurrent models are orange-red, convolutions green, attention blue. Bold lines are "
            "the median of three seeds, thin ones the seeds of the model that you choose. A model has "
            f"learned from an accuracy of {LEARNED} on. Each model has a learning rate of its "
            f"own, found by a search, and trains for {STEPS} steps at most. Combinations that were not trained are left blank "
            "among the accuracies; their gradient is drawn.",
        ),
        controls=[
            Control(
                "T",
                LENGTHS,
                label=Text(zh="序列长度", en="length of the sequence"),
                symbol="T",
                start=64,
                continuous=False,
            ),
            Control(
                "model",
                {model: name for model, (name, *_) in LOOKS.items()},
                label=Text(zh="模型", en="Model"),
                start="attention",
            ),
            Control(
                "seed",
                {ALL: Text(zh="三个都要", en="all three"), **{str(seed): str(seed) for seed in SEEDS}},
                label=Text(zh="随机种子", en="Random seed"),
                advanced=True,
            ),
            Control(
                "step",
                list(range(0, STEPS + 1, 2 * EVERY)),
                label=Text(zh="训练了多少步", en="steps of training"),
                start=STEPS,
                advanced=True,
                continuous=False,
            ),
        ],
        panels=[
            Lines(
                title=Text(zh="训练之后的准确率", en="Accuracy after training"),
                x=across,
                y=Axis(Text(zh="准确率", en="accuracy"), (0, 1.05), resolution=0.0005),
                series=lines(accuracies, TRAINED)
                + [
                    Series(
                        lambda model, T, seed, step: [
                            median_accuracy(model, T, seeds_for(seed), step) if T <= TRAINED[model] else CHANCE
                        ],
                        now,
                        NOW,
                        "grey",
                        "circle",
                    )
                ],
                rules=[
                    Rule(CHANCE, Text(zh="瞎猜 1/8", en="a guess, 1/8")),
                    Rule(LEARNED, Text(zh="学会了", en="learned")),
                ],
            ),
            Lines(
                title=Text(zh="训练之前传回第一个符号的梯度", en="Gradient at the first symbol before training"),
                x=across,
                y=Axis(
                    Text(zh="梯度的大小", en="size of the gradient"),
                    (-10, 0),
                    "‖∂L/∂e_1‖",
                    log10=True,
                    resolution=0.005,
                ),
                series=lines(gradients, dict.fromkeys(LOOKS, LENGTHS[-1]))
                + [
                    Series(
                        lambda model, T, seed: [median_gradient(model, T, seed)],
                        lambda T: [math.log10(T)],
                        NOW,
                        "grey",
                        "circle",
                    )
                ],
                rules=[Rule(best, Text(zh="分界", en="threshold"))],
            ),
        ],
        sentence=Sentence(
            Text(
                zh="T = {T}，{model}，最多训练 {step} 步：训练之前，传回第一个符号的梯度是 {gradient}；{told}{accuracy}{verdict}"
                "它学会了的最长的 T 是 {longest}（– 是没有；最长试到 {trained}）。分界是梯度 {best}，从图中的 {old} 次训练里选出：大于它的学会、"
                "小于它的没学会，说中 {right_old} 次。换上没有参与挑选的 {new} 次，说中 {right_new} 次：小于它却学会的有 {below} 次；"
                "大于它却没学会的有 {above} 次，其中 {unordered} 次是没有位置的注意力，它分不出哪个符号排在第一。"
                "{budget} 步的分界不是定律：再练下去，它也许会移。",
                en="T = {T}, {model}, at most {step} steps of training: before it, the gradient at the first symbol is {gradient}; "
                "{told}{accuracy}{verdict} The longest T that it learned is {longest} (– for none; the "
                "longest tried, {trained}). The threshold, a gradient of {best}, was chosen on the {old} runs drawn: that runs above it learn "
                "and runs below it do not is right for {right_old}. Of {new} other runs, which did not choose it, it is right for "
                "{right_new}: {below} learned below it; {above} did not above it, {unordered} of them attention without "
                "positions, which cannot tell which symbol came first. A threshold for {budget} steps is no law: with more steps "
                "it may move.",
            ),
            gradient=lambda model, T, seed: power_text(median_gradient(model, T, seed)),
            told=Choice(
                lambda model, T: int(T <= TRAINED[model]),
                [Text(zh="", en=""), Text(zh="训练之后的准确率是 ", en="the accuracy after it is ")],
            ),
            accuracy=accuracy_text,
            verdict=Choice(
                verdict,
                [
                    Text(zh="这一格没有训练。", en="this combination was not trained."),
                    Text(zh="，没有学会。", en=", not learned."),
                    Text(zh="，学会了。", en=", learned."),
                ],
            ),
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
            budget=lambda: str(STEPS),
        ),
        cache=figure_cache(__name__),
        within=one_thread,
    )
