"""Claims 3 to 10: what recurrent networks keep, what waits in them, and what is left of a gradient far back."""

import torch
from torch import Tensor
from torch.func import jacrev
from torch.utils._python_dispatch import TorchDispatchMode

from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.claims.trained import log_gradient, longest, recalled
from why_attention.cost import counted_flops
from why_attention.dependency_graph import recurrence, sequential_steps
from why_attention.explorable import Text
from why_attention.explorable.numbers import power_text
from why_attention.parallel_scan import loop, parallel_scan, scan_rounds
from why_attention.rnn import LSTMCell, RNNCell, decay_bound, ensemble, gradient_decay, step_jacobians, unroll
from why_attention.tasks.recall import LEARNED, LENGTHS, TRAINED

__all__ = ["CLAIMS"]

SIZE, STEPS = 64, 1000  # d = H; the longest lag
ROUNDING = 1e-10  # results in float64 that differ by less are equal

VASWANI = Source("Vaswani et al. 2017", "1706.03762", Text(zh="表 1", en="Table 1"))
BAHDANAU = Source("Bahdanau et al. 2015", "1409.0473", Text(zh="摘要和第 1 节", en="abstract, §1"))
FENG = Source("Feng et al. 2024", "2410.01201")
PASCANU = Source("Pascanu et al. 2013", "1211.5063", Text(zh="2.1 节", en="§2.1"))
TALLEC = Source("Tallec & Ollivier 2018", "1804.11188")
KHANDELWAL = Source("Khandelwal et al. 2018", "1805.04623", Text(zh="第 4 节", en="§4"))
DAI = Source("Dai et al. 2019", "1901.02860", Text(zh="表 8", en="Table 8"))


def random_rnn(seed: int, gain: float = 1.0, scale: float = 1.0) -> tuple[RNNCell, Tensor]:
    """Return an untrained RNN and a thousand random inputs for it."""
    generator = torch.Generator().manual_seed(seed)
    cell = RNNCell(SIZE, SIZE)
    cell.reset_parameters(gain, generator)
    return cell, scale * torch.randn(STEPS, SIZE, generator=generator)


def fixed_state() -> Result:
    """Claim 3: count the numbers that are kept, and go on from them alone, without any of the inputs before."""
    cell, x = random_rnn(seed=0)
    with torch.no_grad():
        states = unroll(cell, x)
        kept = [states[t - 1].numel() for t in (10, 100, 1000)]
        error = (unroll(cell, x[500:], states[499]) - states[500:]).abs().max().item()
    held = set(kept) == {SIZE} and error == 0
    value = Text(
        zh=f"读完 10、100、1000 步，状态都是 {kept[0]}、{kept[1]}、{kept[2]} 个数；只凭第 500 步的状态往下读，后面 500 步相差 {error:.0f}",
        en=f"after 10, 100 and 1000 steps the state is {kept[0]}, {kept[1]} and {kept[2]} numbers; read on from the state "
        f"of step 500 alone, and the next 500 steps differ by {error:.0f}",
    )
    return Result(value, held, not held)


def work_that_need_not_wait() -> Result:
    """Claim 4: multiply all inputs by W_x at once, and run a linear recurrence in rounds instead of steps."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(STEPS, SIZE, generator=generator, dtype=torch.float64)
    cell = RNNCell(SIZE, SIZE, dtype=torch.float64)
    with torch.no_grad():
        one_by_one = torch.stack([cell.W_x @ x_t for x_t in x])
        same = (x @ cell.W_x.T - one_by_one).abs().max() < ROUNDING
    share = counted_flops(lambda: x @ cell.W_x.T) / counted_flops(lambda: unroll(cell, x))
    a = torch.rand(4096, SIZE, generator=generator, dtype=torch.float64)
    b = torch.randn(4096, SIZE, generator=generator, dtype=torch.float64)
    error = (parallel_scan(a, b) - loop(a, b)).abs().max().item()
    nothing_parallel = not same and error > ROUNDING
    value = Text(
        zh=f"W_x x_t 一次乘完，占矩阵乘法的 {share:.0%}；线性循环走 4096 步只要 {scan_rounds(4096)} 轮，误差 {error:.0e}",
        en=f"all W_x x_t at once are {share:.0%} of the matrix products; 4096 steps of a linear recurrence take "
        f"{scan_rounds(4096)} rounds, error {error:.0e}",
    )
    return Result(value, held=nothing_parallel, failed=bool(same) and error < ROUNDING)


class Calls(TorchDispatchMode):
    """Counts the operations that Python asks torch for."""

    count = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.count += 1
        return operation(*args, **(kwargs or {}))


def waiting_in_line() -> Result:
    """Claim 5: count the steps that wait for one another, and the calls that the same steps take when fused."""
    steps = sequential_steps(recurrence(STEPS))
    x = torch.randn(STEPS, SIZE, generator=torch.Generator().manual_seed(0))
    fused, cell, calls = torch.nn.LSTM(SIZE, SIZE), LSTMCell(SIZE, SIZE), []
    for run in (fused, lambda x: unroll(cell, x)):
        with torch.no_grad(), Calls() as counter:
            run(x)
        calls.append(counter.count)
    value = Text(
        zh=f"{STEPS} 步要等 {steps} 轮，这省不掉；可是同样的 LSTM，一步一步地算要调用 {calls[1]} 次算子，nn.LSTM 融合以后是 {calls[0]} 次",
        en=f"{STEPS} steps are {steps} rounds, and nothing saves those; but step by step an LSTM calls {calls[1]} "
        f"operations, fused into nn.LSTM {calls[0]}",
    )
    return Result(value, held=steps == STEPS, failed=calls[0] < STEPS)


def order_of_the_product() -> Result:
    """Claim 6: multiply Jacobians in either order and leave c out of an LSTM, and compare with automatic differentiation."""
    generator = torch.Generator().manual_seed(0)
    cell = RNNCell(8, 8, dtype=torch.float64)
    cell.reset_parameters(1.0, generator)
    x = torch.randn(6, 8, generator=generator, dtype=torch.float64)
    true = jacrev(lambda h: unroll(cell, x, h)[-1])(x.new_zeros(8))
    J = step_jacobians(cell, x)  # J_1 … J_t
    in_order, reversed_ = (torch.linalg.multi_dot(list(factors)) for factors in (J.flip(0), J))
    errors = [((product - true).norm() / true.norm()).item() for product in (in_order, reversed_)]

    lstm = LSTMCell(8, 8, dtype=torch.float64)
    lstm.reset_parameters(1.0, generator, forget_bias=5.0)
    x = torch.randn(100, 8, generator=generator, dtype=torch.float64)
    true = jacrev(lambda s: unroll(lstm, x, s)[-1, :8])(x.new_zeros(16))[:, :8]  # ∂h_100/∂h_0
    without_c = torch.linalg.multi_dot(list(step_jacobians(lstm, x)[:, :8, :8].flip(0)))
    sizes = [power_text(matrix.norm().log10().item()) for matrix in (true, without_c)]
    value = Text(
        zh=f"RNN：按 J_t⋯J₁ 的次序乘，误差 {errors[0]:.0e}，倒过来乘，误差 {errors[1]:.1f}；"
        f"LSTM 往回 100 步，‖∂h_t/∂h₀‖ 是 {sizes[0]}，只乘 h 对 h 的雅可比却得 {sizes[1]}",
        en=f"RNN: in the order J_t⋯J₁ the error is {errors[0]:.0e}, reversed it is {errors[1]:.1f}; LSTM, 100 steps back: "
        f"‖∂h_t/∂h₀‖ is {sizes[0]}, but the product of the Jacobians of h by h is {sizes[1]}",
    )
    return Result(value, held=errors[0] < ROUNDING, failed=bool(without_c.norm() < true.norm() / 2))


def a_few_small_norms() -> Result:
    """Claim 7: a product with five small factors that does not vanish, and one without any small norm that does."""
    factors = torch.ones(STEPS)
    factors[::200] = 0.5
    product = factors.prod().item()
    cell, x = random_rnn(seed=0)
    least = torch.linalg.matrix_norm(step_jacobians(cell, x), ord=2).min().item()
    decay, bound = gradient_decay(cell, x, [STEPS]).item(), decay_bound(cell, x, [STEPS]).item()
    value = Text(
        zh=f"{STEPS} 个数里有 {(factors < 1).sum()} 个 0.5，积是 {product:.3f}；"
        f"一个 RNN 每步的 ‖J_t‖ 都不小于 {least:.2f}，‖∏J_t‖ 却是 {power_text(decay)}，而上界 ∏‖J_t‖ 是 {power_text(bound)}",
        en=f"of {STEPS} numbers {(factors < 1).sum()} are 0.5, and the product is {product:.3f}; an RNN whose every ‖J_t‖ is "
        f"at least {least:.2f} has ‖∏J_t‖ = {power_text(decay)}, while the bound ∏‖J_t‖ is {power_text(bound)}",
    )
    enough, needed = product < 1e-6, least < 1
    return Result(value, held=enough, failed=not enough and not needed and decay < -6)


def explosion(gain: float = 1.5) -> Result:
    """Claim 8: take eight draws of an RNN, a thousand steps back, with inputs of three sizes."""
    spreads = []
    for scale in (0.0, 0.1, 1.0):
        cells, inputs = zip(*(random_rnn(seed, gain, scale) for seed in range(8)))
        spreads.append(gradient_decay(ensemble(list(cells)), torch.stack(inputs, 1), [STEPS]).aminmax())
    none, small, large = (f"{power_text(low.item())} … {power_text(high.item())}" for low, high in spreads)
    value = Text(
        zh=f"增益 {gain}，八个种子，往回 {STEPS} 步：没有输入 {none}；输入尺度 0.1，{small}；输入尺度 1，{large}",
        en=f"gain {gain}, eight seeds, {STEPS} steps back: without inputs {none}; input scale 0.1, {small}; "
        f"input scale 1, {large}",
    )
    vanishes = any(high < 0 for _, high in spreads)  # in all eight draws
    explodes = any(low > 0 for low, _ in spreads)
    return Result(value, held=vanishes, failed=explodes)


def forget_gates() -> Result:
    """Claim 9: one LSTM, three biases of its forget gate: by what does a step back multiply the gradient?"""
    biases, cells, inputs = (0.0, 1.0, 5.0), [], []
    for bias in biases:
        generator = torch.Generator().manual_seed(0)
        cell = LSTMCell(SIZE, SIZE)
        cell.reset_parameters(1.0, generator, forget_bias=bias)
        cells.append(cell)
        inputs.append(torch.randn(STEPS, SIZE, generator=generator))
    decades = gradient_decay(ensemble(cells), torch.stack(inputs, 1), [STEPS])[0]
    a_step = (10 ** (decades / STEPS)).tolist()
    zero, one, five = (f"{factor:.3f}" for factor in a_step)
    value = Text(
        zh=f"往回 {STEPS} 步，平均每步乘以：遗忘门的偏置是 0 时 {zero}，1 时 {one}，5 时 {five}",
        en=f"mean factor a step, {STEPS} steps back: {zero} with forget bias 0, {one} with 1, {five} with 5",
    )
    return Result(value, held=a_step[0] < a_step[1] < 0.99, failed=a_step[2] >= 1)


def memory_of_the_trained() -> Result:
    """Claim 10: how far back trained networks recall a symbol, and what arrives from there before training."""
    plain, chrono = longest("LSTM b=1"), longest("LSTM chrono")
    near, far = LENGTHS[0], LENGTHS[-1]
    fall = {model: log_gradient(model, near) - log_gradient(model, far) for model in ("LSTM b=1", "LSTM chrono")}
    value = Text(
        zh=f"训练后记得住首个符号的最大 T：LSTM（遗忘门偏置 1）{plain}，按 chrono 初始化的 {chrono}；训练前，传回首个符号的梯度，"
        f"T 从 {near} 到 {far}，前者掉了 {fall['LSTM b=1']:.0f} 个数量级，后者只掉 {fall['LSTM chrono']:.1f} 个",
        en=f"largest T across which the first symbol is recalled after training: {plain} by an LSTM with forget bias 1, {chrono} "
        f"by one initialised by chrono; the gradient that reaches that symbol before training falls from T = {near} to {far} "
        f"by {fall['LSTM b=1']:.0f} powers of ten in the first, by only {fall['LSTM chrono']:.1f} in the second",
    )
    recurrent = [model for model in TRAINED if model.startswith(("RNN", "LSTM"))]
    held = all(recalled(model, TRAINED[model]) < LEARNED for model in recurrent)  # none gets across the longest T tried
    # no law: what limits the first is its start, for the same cell holds far more when it starts otherwise
    return Result(value, held, failed=chrono > 2 * plain and fall["LSTM chrono"] < 4)


CLAIMS = (
    Claim(
        3,
        common=Text(
            zh="循环网络把读过的东西全都装进一个大小固定的状态。",
            en="A recurrent network packs all that it has read into a state of fixed size.",
        ),
        correct=Text(
            zh="就是这样：以后的每一步只看得到这个状态，看不到前面的输入。",
            en="Just so: whatever comes later sees that state, and none of the inputs before it.",
        ),
        verdict=Verdict.RIGHT,
        sources=(BAHDANAU,),
        page="two-roads",
        section=Text(zh="再长的文字，也装进一样大的状态", en="However long the text, the state is as large as ever"),
        check=fixed_state,
    ),
    Claim(
        4,
        common=Text(
            zh="循环网络沿着序列方向完全不能并行。", en="A recurrent network has nothing to do in parallel along time."
        ),
        correct=Text(
            zh="要等的只有非线性的循环那一步。输入投影可以一次乘完，输入和状态一样宽时，它占矩阵乘法的一半；"
            "换成线性的循环，整条序列都能用并行扫描来算。",
            en="Only the nonlinear recurrence has to wait. Input projections are one product, half of all matrix products "
            "where input and state are equally wide; and a linear recurrence can be scanned in parallel.",
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
            zh="轮数确实省不掉。但每一步派活的开销，融合的内核可以省；要比秒数，得写明 d、线程数和设备。",
            en="The rounds stay, it is true. But a fused kernel spares the cost of giving out each step; whoever compares "
            "seconds has to name d, the threads and the device.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI,),
        page="recurrence",
        section=Text(zh="轮数不是秒数", en="Rounds are not seconds"),
        check=waiting_in_line,
    ),
    Claim(
        6,
        common=Text(
            zh="∂h_t/∂h₁ 等于每一步的 ∂h_i/∂h_{i−1} 连乘。",
            en="∂h_t/∂h₁ is the product of ∂h_i/∂h_{i−1} over the steps.",
        ),
        correct=Text(
            zh="还要说清两件事：矩阵相乘有次序，最晚的一步在最左边；LSTM 传下去的是 (h, c)，信号主要走 c，只乘 h 就漏掉了。",
            en="Two things need saying: matrices have an order, with the latest step on the left; and an LSTM hands on "
            "(h, c), with the signal on the way by c, which a product over h alone leaves out.",
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
            zh="既不充分，也不必要。范数的积只是上界：每步都不超过同一个 η < 1，才一定消失；一般要看沿轨迹的平均对数增长率。",
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
            zh="也会爆炸。线性循环或者没有输入，谱半径大于 1 就一直涨；tanh 循环两种结局都可能，所以要多看几个种子。",
            en="It explodes as well. A linear recurrence, or one without inputs, grows without bound at a spectral radius "
            "above 1; a tanh RNN may do either, so look at several seeds.",
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
            zh="要看遗忘门开得多大：偏置 0 和普通 RNN 一样消失，偏置 5 就不再消失；代价是记得久的写得少。",
            en="It depends on how far the forget gate stands open: with bias 0 the gradient vanishes as in a plain RNN, with "
            "bias 5 it does not; the price is that what remembers long writes little.",
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
            zh="这是对一类训练好的模型的观察：LSTM 语言模型平均用到约 200 个 token，次序只在最近约 50 个里要紧。不是定律。",
            en="An observation about one kind of trained model: LSTM language models use about 200 tokens on average, and "
            "their order matters within about 50. It is no law.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(KHANDELWAL, DAI),
        page="recurrence",
        section=Text(zh="这些测量没有说什么", en="What these measurements do not show"),
        check=memory_of_the_trained,
    ),
)
