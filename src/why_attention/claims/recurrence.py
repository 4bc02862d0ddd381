"""Claims 3 to 10: the state of recurrent networks, their sequential steps, and how their gradients decay."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.func import jacrev

from explorable import Text
from explorable.numbers import power_text
from why_attention.claims import latch
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.claims.lstmn import LSTMN
from why_attention.cost import counted_flops
from why_attention.parallel_iteration import jacobi_iteration, rounds_needed
from why_attention.parallel_scan import loop, parallel_scan, scan_rounds
from why_attention.rnn import (
    Cell,
    GRUCell,
    LSTMCell,
    RNNCell,
    ensemble,
    gradient_decay,
    spectral_norm,
    step_jacobians,
    unroll,
)
from why_attention.tasks.recall import LEARNED, TRAINED, longest_learned

__all__ = ["CLAIMS"]

SIZE, STEPS = 64, 1000  # d = H; the longest lag
SMALL = 8  # d = H where whole Jacobian matrices are computed
ROUNDING = 1e-10  # results in float64 that differ by less are equal
VANISHED = -6  # log10 of a gradient that counts as vanished

VASWANI = Source("Vaswani et al. 2017", "1706.03762", Text(zh="表 1", en="Table 1"))
BAHDANAU = Source("Bahdanau et al. 2015", "1409.0473", Text(zh="摘要和第 1 节", en="abstract, §1"))
CHENG = Source("Cheng et al. 2016", "1601.06733")
FENG = Source("Feng et al. 2024", "2410.01201")
LIM = Source("Lim et al. 2024", "2309.12252")
GONZALEZ = Source("Gonzalez et al. 2025", "2508.16817")
PASCANU = Source("Pascanu et al. 2013", "1211.5063", Text(zh="2.1 节", en="§2.1"))
TALLEC = Source("Tallec & Ollivier 2018", "1804.11188")
KHANDELWAL = Source("Khandelwal et al. 2018", "1805.04623", Text(zh="第 4 节", en="§4"))
DAI = Source("Dai et al. 2019", "1901.02860", Text(zh="表 8", en="Table 8"))
HOCHREITER = Source("Hochreiter & Schmidhuber 1997", "10.1162/neco.1997.9.8.1735", Text(zh="摘要", en="abstract"))


def random_cell(kind: type[Cell], seed: int = 0, size: int = SIZE, gain: float = 1.0, **biases) -> Cell:
    """Return an untrained cell of d = H = size, in float64."""
    cell = kind(size, size, dtype=torch.float64)
    cell.reset_parameters(gain, torch.Generator().manual_seed(seed), **biases)
    return cell


def random_inputs(steps: int = STEPS, size: int = SIZE, scale: float = 1.0, seed: int = 0) -> Tensor:
    """Return inputs from N(0, scale²), (steps, size)."""
    generator = torch.Generator().manual_seed(1000 + seed)
    return scale * torch.randn(steps, size, generator=generator, dtype=torch.float64)


def recurrent_networks() -> dict[str, tuple[Callable[[Tensor, Tensor], Tensor], Tensor]]:
    """Return the networks of claim 3: a step from input and memory to memory, and the initial memory."""
    cells = {
        name: random_cell(kind, size=SMALL) for name, kind in (("RNN", RNNCell), ("GRU", GRUCell), ("LSTM", LSTMCell))
    }
    lstmn = LSTMN(SMALL, SMALL, torch.Generator().manual_seed(0), torch.float64)
    return {name: (cell, torch.zeros(cell.state_size, dtype=torch.float64)) for name, cell in cells.items()} | {
        "LSTMN": (lstmn, lstmn.start)
    }


def memories(step: Callable[[Tensor, Tensor], Tensor], memory: Tensor, x: Tensor) -> list[Tensor]:
    """Return the memory of a network after each of the inputs x."""
    kept = []
    for x_t in x:
        memory = step(x_t, memory)
        kept.append(memory)
    return kept


def ways_through(step: Callable[[Tensor, Tensor], Tensor], memory: Tensor) -> int:
    """Return the rank of the Jacobian of 8 later states h by 8 earlier inputs."""
    earlier, later = random_inputs(16, SMALL).split(8)

    def states(earlier: Tensor) -> Tensor:
        kept = memories(step, memory, torch.cat([earlier, later]))[8:]
        return torch.cat([memory.reshape(-1, memory.shape[-1])[-1, :SMALL] for memory in kept])

    J = jacrev(states)(earlier).flatten(1)
    return torch.linalg.matrix_rank(J, rtol=ROUNDING).item()


def fixed_state(names: tuple[str, ...] = ("RNN", "GRU", "LSTM", "LSTMN")) -> Result:
    """Claim 3: the size of the memory as a network reads, and the rank from earlier inputs to later states."""
    sizes, ranks = {}, {}
    for name in names:
        step, memory = recurrent_networks()[name]
        with torch.no_grad():
            kept = memories(step, memory, random_inputs(size=SMALL))
        sizes[name] = [kept[t - 1].numel() for t in (10, 100, 1000)]
        ranks[name] = ways_through(step, memory)
    fixed = [len(set(sizes[name])) == 1 and ranks[name] <= sizes[name][0] for name in names]
    zh = "；".join(f"{name}：留下 {'、'.join(map(str, sizes[name]))} 个数，传过 {ranks[name]} 个" for name in names)
    en = "; ".join(f"{name}: {', '.join(map(str, sizes[name]))} kept; {ranks[name]} get through" for name in names)
    value = Text(
        zh=f"H = {SMALL}，读完 10、100、1000 步后留下多少个数，以及前 8 个输入里有多少个独立的数能影响后 8 个状态（雅可比矩阵的秩，至多 64）：{zh}",
        en=f"H = {SMALL}: numbers kept after 10, 100 and 1000 steps, and how many independent numbers of 8 earlier inputs reach "
        f"8 later states (rank of the Jacobian, at most 64): {en}",
    )
    return Result(value, held=any(fixed), failed=not all(fixed))


def waits_less(cell: Cell) -> bool:
    """Whether an input adds the same inside the tanh for any state: then that part can be computed ahead."""
    x, states = 0.1 * random_inputs(100), 0.1 * random_inputs(2, seed=1)
    added = [torch.atanh(cell(x, h.expand_as(x))) - torch.atanh(cell(0 * x, h.expand_as(x))) for h in states]
    return bool((added[0] - added[1]).abs().max() < ROUNDING)


@torch.no_grad()
def work_that_need_not_wait(
    kind: type[Cell] = RNNCell, recurrence: Callable[[Tensor, Tensor], Tensor] = loop
) -> Result:
    """Claim 4: do input projections wait for the state, and can a recurrence be scanned in parallel?"""
    cell, x = random_cell(kind), random_inputs(100)
    free = waits_less(cell)
    share = counted_flops(lambda: x @ cell.W_x.T) / counted_flops(lambda: unroll(cell, x)) if free else 0
    a, b = torch.rand(4096, SIZE, generator=torch.Generator().manual_seed(0), dtype=torch.float64), random_inputs(4096)
    error = (parallel_scan(a, b) - recurrence(a, b)).abs().max().item()
    value = Text(
        zh=f"不必等状态的输入投影，占矩阵乘法的 {share:.0%}；另取一个 4096 步的线性循环，改用 {scan_rounds(4096)} 轮的并行扫描，误差 {error:.0e}",
        en=f"input projections that need not wait for the state: {share:.0%} of the matrix products; a linear "
        f"recurrence of 4096 steps, in a parallel scan of {scan_rounds(4096)} rounds: error {error:.0e}",
    )
    parallel = free or error < ROUNDING
    return Result(value, held=not parallel, failed=parallel)


@torch.no_grad()
def waiting_in_line(networks: tuple[tuple[float, float], ...] = ((1.0, 1.0), (3.0, 0.1))) -> Result:
    """Claim 5: run RNNs of some gains and input scales by Jacobi iteration: how many rounds until convergence?"""
    rounds, errors = [], []
    for gain, scale in networks:
        cell, x = random_cell(RNNCell, gain=gain), random_inputs(scale=scale)
        rounds.append(rounds_needed(cell, x))
        errors.append((jacobi_iteration(cell, x, rounds[-1]) - unroll(cell, x)).abs().max().item())
    few = [needed < STEPS / 10 and error < 1e-5 for needed, error in zip(rounds, errors)]
    zh = "；".join(f"增益 {gain:g}、输入尺度 {scale:g}：{r} 轮" for (gain, scale), r in zip(networks, rounds))
    en = "; ".join(f"gain {gain:g}, input scale {scale:g}: {r} rounds" for (gain, scale), r in zip(networks, rounds))
    value = Text(
        zh=f"所有位置同时迭代，算完 {STEPS} 步（每轮变化小于 10⁻⁶ 为止）：{zh}",
        en=f"all positions iterated at once, {STEPS} steps (until a round changes less than 10⁻⁶): {en}",
    )
    return Result(value, held=any(needed > 0.9 * STEPS for needed in rounds), failed=any(few))


def product_and_truth(cell: Cell, steps: int = 20) -> tuple[Tensor, Tensor, Tensor]:
    """Return the product of the ∂h_i/∂h_{i-1} with the latest on the left, the same reversed, and ∂h_t/∂h_0 by autodiff."""
    x, H = random_inputs(steps, SMALL), SMALL
    J = step_jacobians(cell, x)[:, :H, :H]
    s_0 = x.new_zeros(cell.state_size)
    true = jacrev(lambda s: unroll(cell, x, s)[-1, :H])(s_0)[:, :H]
    return torch.linalg.multi_dot(list(J.flip(0))), torch.linalg.multi_dot(list(J)), true


def order_of_the_product(cells: dict[str, Cell] | None = None) -> Result:
    """Claim 6: multiply the Jacobians of h by h in either order, and compare with autodiff."""
    cells = cells or {
        "RNN": random_cell(RNNCell, size=SMALL),
        "LSTM": random_cell(LSTMCell, size=SMALL, forget_bias=5.0),
    }
    errors = {}
    for name, cell in cells.items():
        *products, true = product_and_truth(cell)
        errors[name] = [((product - true).norm() / true.norm()).item() for product in products]
    zh = "；".join(
        f"{name}：最晚的一步在左边，{left:.2g}，倒过来，{right:.2g}" for name, (left, right) in errors.items()
    )
    en = "; ".join(
        f"{name}: {left:.2g} with the latest step on the left, {right:.2g} reversed"
        for name, (left, right) in errors.items()
    )
    value = Text(
        zh=f"往回 20 步，把 ∂h_i/∂h_{{i−1}} 连乘，与自动微分的相对误差（1 表示几乎全漏掉）：{zh}",
        en=f"20 steps back, product of the ∂h_i/∂h_{{i−1}}, relative error against automatic differentiation (1: nearly all of it is missed): {en}",
    )
    right = [error < ROUNDING for pair in errors.values() for error in pair]
    return Result(value, held=any(right), failed=not all(right))


def spread(logs: Sequence[float]) -> str:
    """Write the least and the largest of numbers 10^log, or their common value."""
    return " … ".join(dict.fromkeys(power_text(f(logs), 2) for f in (min, max)))


def carousel(seed: int, factor: float, few: int) -> tuple[Cell, Tensor]:
    """Return an LSTM that keeps c exactly except at a few random steps, where its forget gates are ``factor``."""
    cell, x = LSTMCell(1, SMALL, dtype=torch.float64), torch.zeros(STEPS, 1, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    x[torch.randperm(STEPS, generator=generator)[:few]] = 1
    with torch.no_grad():
        cell.W_h.zero_(), cell.W_x.zero_(), cell.b.zero_()
        cell.b[SMALL : 2 * SMALL] = 40  # f = 1 up to rounding
        cell.W_x[SMALL : 2 * SMALL] = math.log(factor / (1 - factor)) - 40
        cell.b[3 * SMALL :] = -40  # o = 0: h = 0
    return cell, x


def a_few_small_norms(factor: float = 0.5, few: int = 5, gain: float = 1.0, seeds: int = 3) -> Result:
    """Claim 7: LSTMs with a few small norms, and RNNs: which gradients vanish, and how many norms are below 1?"""
    with_few, least, without, bounds = [], [], [], []
    for seed in range(seeds):
        cell, x = carousel(seed, factor, few)
        small = int((spectral_norm(step_jacobians(cell, x)) < 1 - ROUNDING).sum())
        with_few.append((small, gradient_decay(cell, x, [STEPS]).item()))
        cell, x = random_cell(RNNCell, seed, 48, gain), random_inputs(size=48, seed=seed)
        norms = spectral_norm(step_jacobians(cell, x))
        least.append(norms.min().item())
        without.append(gradient_decay(cell, x, [STEPS]).item())
        bounds.append(norms.log10().sum().item())
    small, kept = with_few[0][0], spread([log for _, log in with_few])
    vanished, bound = spread(without), spread(bounds)
    value = Text(
        zh=f"各 {seeds} 个种子，往回 {STEPS} 步。LSTM，其中 {small} 步 ‖J_t‖ 小于 1：‖∏J_t‖ 是 {kept}；"
        f"RNN，每步的 ‖J_t‖ 都不小于 {min(least):.2f}：‖∏J_t‖ 是 {vanished}，而上界 ∏‖J_t‖ 是 {bound}",
        en=f"{seeds} seeds each, {STEPS} steps back. LSTMs with ‖J_t‖ below 1 at {small} steps: ‖∏J_t‖ is {kept}; RNNs with every "
        f"‖J_t‖ at least {min(least):.2f}: ‖∏J_t‖ is {vanished}, while the bound ∏‖J_t‖ is {bound}",
    )
    enough = all(0 < small and log < VANISHED for small, log in with_few)
    not_enough = any(0 < small and log > VANISHED for small, log in with_few)
    return Result(value, held=enough, failed=not_enough)


def draws(gain: float, scale: float, start: float = 0.0, steps: int = STEPS) -> tuple[float, float]:
    """Return the least and the largest log10 ‖∂h_T/∂h_{T-1000}‖ of eight random RNNs from h_0 of a size."""
    cells = [random_cell(RNNCell, seed, gain=gain).float() for seed in range(8)]
    x = torch.stack([random_inputs(steps, scale=scale, seed=seed) for seed in range(8)], 1).float()
    h_0 = start * torch.randn(8, SIZE, generator=torch.Generator().manual_seed(0))
    low, high = gradient_decay(ensemble(cells), x, [STEPS], h_0).aminmax()
    return low.item(), high.item()


def explosion(gain: float = 1.5, scales: tuple[float, ...] = (0.1, 1.0)) -> Result:
    """Claim 8: eight random RNNs, a thousand steps back, with inputs of several scales and without any."""
    spreads = {scale: draws(gain, scale) for scale in scales}
    linear = draws(gain, scale=0.0)  # h stays at 0, where tanh(h) = h
    started = draws(gain, scale=0.0, start=1e-3, steps=2 * STEPS)
    at_0, from_near_0, *with_inputs = (spread(logs) for logs in (linear, started, *spreads.values()))
    zh = "；".join(f"输入尺度 {scale:g}：{sizes}" for scale, sizes in zip(scales, with_inputs))
    en = "; ".join(f"input scale {scale:g}: {sizes}" for scale, sizes in zip(scales, with_inputs))
    value = Text(
        zh=f"增益 {gain:g}，八个种子，往回 {STEPS} 步：{zh}；没有输入，h_0 各分量约 0.001，先走 {STEPS} 步，再量其后的 {STEPS} 步，{from_near_0}；"
        f"线性循环（h 恒为 0），{at_0}",
        en=f"gain {gain:g}, eight seeds, {STEPS} steps back: {en}; without inputs, from an h_0 whose components are about 0.001, "
        f"after {STEPS} steps, across the next {STEPS}: {from_near_0}; linear recurrence (h stays 0): {at_0}",
    )
    shrinks = any(high < VANISHED for _, high in spreads.values())  # in all eight draws
    grows = any(high > -VANISHED for _, high in spreads.values())  # in one of them, inputs and tanh included
    return Result(value, held=shrinks, failed=grows)


def forget_gates(settings: tuple[tuple[float, float], ...] = ((0, 1), (1, 1), (5, 0), (5, 1), (5, 3))) -> Result:
    """Claim 9: three LSTMs for each forget bias and input scale, and three RNNs: what is left a thousand steps back?"""
    seeds, size = range(3), 32
    rnns = [random_cell(RNNCell, seed, size).float() for seed in seeds]
    x = torch.stack([random_inputs(size=size, seed=seed) for seed in seeds], 1).float()
    plain = gradient_decay(ensemble(rnns), x, [STEPS])[0]
    lstms = [random_cell(LSTMCell, seed, size, forget_bias=bias).float() for bias, _ in settings for seed in seeds]
    scaled = torch.cat([scale * x for _, scale in settings], 1)
    left = gradient_decay(ensemble(lstms), scaled, [STEPS])[0].split(len(seeds))
    rnn, *lstm = (spread(logs.tolist()) for logs in (plain, *left))
    zh = "；".join(f"偏置 {b:g}、输入尺度 {s:g}：{text}" for (b, s), text in zip(settings, lstm))
    en = "; ".join(f"bias {b:g}, input scale {s:g}: {text}" for (b, s), text in zip(settings, lstm))
    value = Text(
        zh=f"H = {size}，三个种子，往回 {STEPS} 步：RNN，输入尺度 1：{rnn}；LSTM 的遗忘门，{zh}",
        en=f"H = {size}, three seeds, {STEPS} steps back: RNN, input scale 1: {rnn}; LSTM, forget gate: {en}",
    )
    eased = any(plain.max() < logs.min() and logs.max() < VANISHED for logs in left)
    return Result(value, held=eased, failed=any(logs.min() > VANISHED for logs in left))


FEW_HUNDRED = 500


def memory_of_the_trained(models: tuple[str, ...] = ("RNN", "LSTM b=1", "LSTM chrono"), **biases) -> Result:
    """Claim 10: how far trained networks recall a symbol: among symbols (stored runs), and among noise (trained now)."""
    biases = biases or {"chrono": 2 * STEPS}
    reach, tried = {model: longest_learned(model) for model in models}, [TRAINED[model] for model in models]
    cell, T = LSTMCell(latch.INPUTS, 32), 60
    cell.reset_parameters(generator=torch.Generator().manual_seed(0), **biases)
    right = latch.accuracy(latch.train(cell, T, steps=300), STEPS)
    start = ", ".join(f"{name} {number:g}" for name, number in biases.items())
    value = Text(
        zh=f"存好的训练结果，干扰也是符号，学得会的最大 T：{'，'.join(f'{model}：{T}' for model, T in reach.items())}"
        f"（练过的最大 T 依次是 {'、'.join(map(str, tried))}）；当场训练一个 LSTM（{start}），干扰是噪声，另有输入通道，"
        f"用长 {T} 的序列训练，问 {STEPS} 个 token 里的第一个，答对 {right:.2f}",
        en=f"stored runs, distractors are symbols too, largest T learned: {', '.join(f'{model}: {T}' for model, T in reach.items())} "
        f"(largest T tried: {', '.join(map(str, tried))}); an LSTM trained just now ({start}), distractors are noise on inputs of "
        f"their own, on sequences of {T}: asked for the first of {STEPS} tokens, right {right:.2f} of the time",
    )
    far = right >= LEARNED or max(reach.values()) > FEW_HUNDRED
    short = any(learned < longest_tried <= FEW_HUNDRED for learned, longest_tried in zip(reach.values(), tried))
    return Result(value, held=short, failed=far)


CLAIMS = (
    Claim(
        3,
        common=Text(
            zh="循环网络把读过的东西全都装进一个大小固定的状态。",
            en="A recurrent network packs all that it has read into a state of fixed size.",
        ),
        correct=Text(
            zh="RNN、GRU、LSTM 是这样：以后的每一步只看得到这个状态。循环网络也可以每读一个 token 就多留一格记忆，LSTMN 就是如此。",
            en="An RNN, a GRU and an LSTM do: later steps see that state and nothing else of the past. But a recurrent network may "
            "also add a slot to its memory for every token, as the LSTMN does.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(BAHDANAU, CHENG),
        page="two-roads",
        section=Text(zh="文字再长，状态也还是那么大", en="However long the text, the state is as large as ever"),
        check=fixed_state,
    ),
    Claim(
        4,
        common=Text(
            zh="循环网络沿着序列方向完全不能并行。",
            en="A recurrent network cannot be computed in parallel along the sequence at all.",
        ),
        correct=Text(
            zh="一步一步地算，要等的只有非线性的循环那一步。输入投影可以一次乘完，输入和状态一样宽时，它占矩阵乘法的一半；"
            "换成线性的循环，整条序列都能用并行扫描来算。",
            en="Computed step by step, only the nonlinear recurrence has to wait. Input projections are one product, half of all "
            "matrix products where input and state are equally wide; and a linear recurrence can be scanned in parallel.",
        ),
        verdict=Verdict.WRONG,
        sources=(VASWANI, FENG),
        page="recurrence",
        section=Text(zh="哪些不必等", en="What need not wait"),
        check=work_that_need_not_wait,
    ),
    Claim(
        5,
        common=Text(
            zh="第 1000 步得等前面 999 步，再好的硬件也帮不上忙。",
            en="Step 1000 waits for the 999 before it, and no hardware can help.",
        ),
        correct=Text(
            zh="一步一步地精确计算，确实要 n 轮。若循环是收缩的，让所有位置同时迭代，几十轮就能算到很小的误差，总计算量则更大；"
            "若循环放大差异，迭代也要将近 n 轮。另外轮数不是秒数：比较秒数，须写明 d、线程数和设备。",
            en="Exact evaluation step by step does take n rounds. Where the recurrence contracts, iterating all positions at once "
            "gets within a small error in a few dozen rounds, at the price of more work; where it amplifies differences, "
            "that takes nearly n rounds too. And rounds are not seconds: to compare seconds, name d, the threads and the device.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI, LIM, GONZALEZ),
        page="recurrence",
        section=Text(zh="轮数不是秒数", en="Rounds are not seconds"),
        check=waiting_in_line,
    ),
    Claim(
        6,
        common=Text(
            zh="∂h_t/∂h_1 等于每一步的 ∂h_i/∂h_{i−1} 连乘。",
            en="∂h_t/∂h_1 is the product of ∂h_i/∂h_{i−1} over the steps.",
        ),
        correct=Text(
            zh="还要说清两点：矩阵相乘有次序，最晚的一步在最左边；LSTM 传下去的是 (h, c)，只把 h 对 h 的雅可比矩阵连乘，会漏掉由 c 从一步带到下一步的路径。",
            en="Two things need saying: matrices have an order, with the latest step on the left; and an LSTM hands on "
            "(h, c), so a product of the Jacobians of h by h leaves out every path on which c "
            "carries the signal from one step to the next.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(PASCANU,),
        page="recurrence",
        section=Text(zh="梯度穿过许多步", en="The gradient across many steps"),
        check=order_of_the_product,
    ),
    Claim(
        7,
        common=Text(
            zh="连乘里只要混进几个范数小于 1 的雅可比矩阵，梯度就会消失。",
            en="A few Jacobians with norm below 1 in the product are enough to make the gradient vanish.",
        ),
        correct=Text(
            zh="既不充分，也不必要。范数的积只是上界：若每步都不超过同一个 η < 1，梯度必定消失；一般要看沿轨迹的平均对数增长率。",
            en="Neither enough nor needed. The product of norms is a bound: if every one is at most the same η < 1, the "
            "gradient must vanish; in general the mean logarithmic growth along the trajectory decides.",
        ),
        verdict=Verdict.WRONG,
        sources=(PASCANU,),
        page="recurrence",
        section=Text(
            zh="误解：有几步的范数小于 1，梯度就没了",
            en="A misconception: a few norms below 1 and the gradient is gone",
        ),
        check=a_few_small_norms,
    ),
    Claim(
        8,
        common=Text(
            zh="循环网络的梯度，麻烦就在于越传越小。",
            en="The trouble with a recurrent network's gradient is that it shrinks.",
        ),
        correct=Text(
            zh="也会爆炸。线性循环，谱半径大于 1 就一直涨。tanh 循环要看沿着哪条轨迹：只有恒在 h = 0（谱半径大于 1 时，这个不动点不稳定），它才等于线性循环；"
            "离开那里，增益、输入尺度和种子不同，可能变小，也可能变大。",
            en="It explodes as well. A linear recurrence grows without bound at a spectral radius above 1. For a tanh RNN it depends "
            "on the trajectory: only at h = 0, a fixed point that is unstable at a spectral radius above 1, does it equal the linear one; elsewhere the "
            "gradient shrinks or grows with the gain, the scale of the inputs and the seed.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(PASCANU,),
        page="recurrence",
        section=Text(zh="梯度爆炸", en="Exploding gradients"),
        check=explosion,
    ),
    Claim(
        9,
        common=Text(
            zh="LSTM 只能减轻梯度消失，不能消除。", en="An LSTM makes the gradient vanish less, but vanish it does."
        ),
        correct=Text(
            zh="要看遗忘门开得多大，也要看输入多大：偏置 0，消失得和普通 RNN 差不多快；偏置 5，输入尺度 1 时不消失，"
            "输入尺度 3 时照样消失，没有输入时反而爆炸。",
            en="It depends on how far the forget gate stands open, and on the size of the inputs: with bias 0 the gradient vanishes "
            "about as fast as in a plain RNN; with bias 5 it does not vanish at input scale 1, does vanish at 3, and "
            "explodes without inputs.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(TALLEC,),
        page="recurrence",
        section=Text(zh="初始化决定了什么", en="What initialisation decides"),
        check=forget_gates,
    ),
    Claim(
        10,
        common=Text(
            zh="循环网络的有效记忆，实际上超不过几百个 token。",
            en="In practice a recurrent network's memory hardly exceeds a few hundred tokens.",
        ),
        correct=Text(
            zh="这是对一类训练好的模型的观察，不是定律：LSTM 语言模型平均用到约 200 个 token，次序只在最近约 50 个里要紧。"
            "任务需要、初始化得当时，LSTM 能跨过 1000 步以上，1997 年的论文就已做到。",
            en="An observation about one kind of trained model, not a law: LSTM language models use about 200 tokens on average, "
            "and their order matters within about 50. Where the task needs it and the start is right, an LSTM bridges more "
            "than 1000 steps, as the paper of 1997 already did.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(KHANDELWAL, DAI, HOCHREITER),
        page="recurrence",
        section=Text(zh="这些测量不能说明什么", en="What these measurements do not show"),
        check=memory_of_the_trained,
    ),
)
