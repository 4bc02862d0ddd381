"""Claims 13 to 16: the limits of a one-step path, and the order, time and design that attention still needs."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from explorable import Text
from explorable.numbers import power_text
from why_attention.attention import MultiHeadAttention
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.dependency_graph import attention, path_length
from why_attention.influence import influence_matrix, token_diversity
from why_attention.masks import causal_mask
from why_attention.positions import sinusoidal_positions
from why_attention.stack import hidden_states
from why_attention.tasks import induction
from why_attention.tasks.recall import LEARNED, LENGTHS, build, median_accuracy

__all__ = ["CLAIMS"]

SIZE = 16  # d
ROUNDING = 1e-10  # results in float64 that differ by less are equal

VASWANI = Source("Vaswani et al. 2017", "1706.03762", Text(zh="表 1", en="Table 1"))
POSITIONS = Source("Vaswani et al. 2017", "1706.03762", Text(zh="3.5 节", en="§3.5"))
DONG = Source("Dong et al. 2021", "2103.03404")
DAO = Source("Dao et al. 2022", "2205.14135")
PRESS = Source("Press et al. 2022", "2108.12409")
JAIN = Source("Jain & Wallace 2019", "1902.10186")
WIEGREFFE = Source("Wiegreffe & Pinter 2019", "1908.04626")


def random_layer(seed: int = 0) -> MultiHeadAttention:
    """Return an untrained layer of one head."""
    layer = MultiHeadAttention(SIZE, 1, dtype=torch.float64)
    layer.reset_parameters(torch.Generator().manual_seed(seed))
    return layer


def random_tokens(n: int, seed: int = 0) -> Tensor:
    """Return n tokens from N(0, 1)."""
    return torch.randn(n, SIZE, generator=torch.Generator().manual_seed(1000 + seed), dtype=torch.float64)


def attend(layer: MultiHeadAttention, x: Tensor, factor: float = 1.0, slope: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return the output and weights of a layer of one head, its scores times a factor, less a slope times the distance.

    A slope above 0 is ALiBi, both ways.  Source: Press et al. 2022, arXiv 2108.12409.
    """
    i = torch.arange(len(x))
    scores = factor * layer.W_q(x) @ layer.W_k(x).mT / SIZE**0.5 - slope * (i[:, None] - i).abs()
    A = scores.softmax(-1)
    return layer.W_o(A @ layer.W_v(x)), A


def off_diagonal(layer: MultiHeadAttention, x: Tensor, factor: float = 1.0, slope: float = 0.0) -> Tensor:
    """Return the influence matrix with 0 on the diagonal."""
    return influence_matrix(lambda x: attend(layer, x, factor, slope)[0], x).fill_diagonal_(0)


def one_step_fades(factors: tuple[float, ...] = (1, 20), residual: bool = False, slope: float = 0.5) -> Result:
    """Claim 13: the path is 1, but influence thins with n, softmax saturates, and tokens collapse with depth."""

    def bare_layer(seed: int) -> Callable[[Tensor], Tensor]:
        return lambda tokens: attend(random_layer(seed), tokens, factors[0])[0]

    path = path_length(attention(64), (0, 1), (1, 64))
    layer, x = random_layer(), random_tokens(64)
    short, long = (off_diagonal(layer, x[:n], factors[0]) for n in (16, 64))
    means = [(M.sum() / (len(M) * (len(M) - 1))).item() for M in (short, long)]
    strongest = [M.amax(1).mean().item() for M in (short, long)]  # of the other positions
    with torch.no_grad():
        weights = [attend(layer, x, factor)[1] for factor in factors]
        states = hidden_states([bare_layer(seed) for seed in range(12)], x, residual)
    sensitivity = [(A * (1 - A)).sum(-1).mean().item() for A in weights]
    diversity = token_diversity(states)[[0, -1]].log10().tolist()
    near_and_far = [
        [off_diagonal(layer, x, factors[0], m).diagonal(-steps).mean().item() for steps in (1, 40)] for m in (0, slope)
    ]
    plain, biased = (" → ".join(power_text(math.log10(size), 2) for size in pair) for pair in near_and_far)
    far = LENGTHS[-1]
    right = median_accuracy("attention", far)  # training gathers again what dilution has thinned out
    value = Text(
        zh=f"路径长度 {path}；n 从 16 到 64，对别处的平均影响 {means[0]:.2f} → {means[1]:.3f}（乘以 n，是 {16 * means[0]:.1f} 和 "
        f"{64 * means[1]:.1f}）；分数乘 {factors[-1]}，softmax 的灵敏度 Σa(1−a) 从 {sensitivity[0]:.2f} 到 {sensitivity[-1]:.2f}；"
        f"只叠注意力，12 层，token 之间的差异从 {power_text(diversity[0], 2)} 到 {power_text(diversity[1], 2)}；"
        f"距离从 1 到 40，影响 {plain}，若每隔一步分数减 {slope:g}，则 {biased}；不过训练以后，{far} 个 token 里问第一个，答对 {right:.2f}",
        en=f"path length {path}; n from 16 to 64: mean influence on others {means[0]:.2f} → {means[1]:.3f} (times n: "
        f"{16 * means[0]:.1f} and {64 * means[1]:.1f}); scores × {factors[-1]}: sensitivity of the softmax, Σa(1−a), from "
        f"{sensitivity[0]:.2f} to {sensitivity[-1]:.2f}; attention only, 12 layers: the tokens' diversity from "
        f"{power_text(diversity[0], 2)} to {power_text(diversity[1], 2)}; distance from 1 to 40: influence {plain}, and with {slope:g} "
        f"taken off the score for each step {biased}; once trained, though, attention asked for the first of {far} tokens is "
        f"right {right:.2f} of the time",
    )
    fades = {
        "thins out": strongest[1] < 0.6 * strongest[0],
        "saturates": sensitivity[-1] < 0.2,
        "collapses": diversity[1] < diversity[0] - 2,
        "by a bias": near_and_far[1][1] < 1e-4 * near_and_far[1][0],
    }
    without_bias = near_and_far[0][1] > 0.1 * near_and_far[0][0]  # no decay with distance
    return Result(value, held=not any(fades.values()), failed=path == 1 and without_bias and any(fades.values()))


def blind_to_order(
    layer: Callable[..., tuple[Tensor, Tensor | None]] | None = None,
    positions: Callable[..., Tensor] = sinusoidal_positions,
    mask: Callable[[int, int], Tensor] = causal_mask,
    n: int = 1000,
) -> Result:
    """Claim 14: shuffle the tokens, with nothing added, with positions and with a mask, and put the outputs back."""
    layer, x = layer or random_layer(), random_tokens(n)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))

    @torch.no_grad()
    def difference(added: Tensor | float = 0.0, mask: Tensor | None = None) -> float:
        y, shuffled = (layer(tokens + added, mask=mask)[0] for tokens in (x, x[order]))
        return (shuffled - y[order]).abs().max().item()

    plain, placed, masked = difference(), difference(positions(n, SIZE, dtype=x.dtype)), difference(mask=mask(n, n))
    value = Text(
        zh=f"打乱 {n} 个 token，输出换回原位：什么也不加，最多差 {plain:.0e}；加位置编码，差 {placed:.1f}；加因果掩码，差 {masked:.1f}",
        en=f"{n} tokens shuffled, outputs put back: with nothing added they differ by {plain:.0e} at most, with positions by "
        f"{placed:.1f}, with a causal mask by {masked:.1f}",
    )
    return Result(value, held=plain < ROUNDING, failed=max(placed, masked) > 0.01)


def longest_chain(y: Tensor) -> int:
    """Return the length of the longest chain of sequential operations in autograd's graph of y."""
    lengths, stack = {None: 0}, [y.grad_fn]
    while stack:
        node = stack[-1]
        before = [previous for previous, _ in node.next_functions]
        if waiting := [previous for previous in before if previous not in lengths]:
            stack += waiting
        else:
            lengths[stack.pop()] = 1 + max((lengths[previous] for previous in before), default=0)
    return lengths[y.grad_fn]


def attend_causally(x: Tensor, mask: bool = True) -> Tensor:
    """Return the output of an untrained layer, with or without a causal mask."""
    return random_layer()(x, mask=causal_mask(len(x), len(x)) if mask else None)[0]


def generate(layer: Callable[[Tensor], Tensor], first: Tensor, n: int) -> Tensor:
    """Return n tokens; each after the first is the layer's output at the last position of those before."""
    tokens = [first]
    for _ in range(n - 1):
        tokens.append(layer(torch.stack(tokens))[-1])
    return torch.stack(tokens)


def all_at_once(layer: Callable[[Tensor], Tensor] = attend_causally, lengths: tuple[int, int] = (10, 40)) -> Result:
    """Claim 15: compute rows in parallel and one by one; find the longest chain in training and in generation."""
    x = random_tokens(lengths[-1])
    with torch.no_grad():
        error = (layer(x) - torch.stack([layer(x[:t])[-1] for t in range(1, len(x) + 1)])).abs().max().item()
    training = [longest_chain(layer(x[:n].clone().requires_grad_())) for n in lengths]
    generation = [longest_chain(generate(layer, x[0], n)) for n in lengths]
    value = Text(
        zh=f"{len(x)} 个 token：一次算完和逐个算最多差 {error:.0e}；n 从 {lengths[0]} 到 {lengths[1]}，最长的一串先后相接的运算，"
        f"训练时 {training[0]} → {training[1]} 个，生成时 {generation[0]} → {generation[1]} 个",
        en=f"{len(x)} tokens: all at once and one by one differ by {error:.0e} at most; n from {lengths[0]} to {lengths[1]}, longest "
        f"chain of operations that wait for one another: {training[0]} → {training[1]} in training, {generation[0]} → "
        f"{generation[1]} in generation",
    )
    at_once = error < ROUNDING and training[0] == training[1]
    return Result(value, held=at_once, failed=not at_once or generation[1] > 2 * generation[0])


def induction_head() -> tuple[float, float, float]:
    """Return the highest induction score in layer 2 of the stored model, and accuracy with and without that head."""
    (run,) = (r.measured for r in induction.EXPERIMENT.results() if r.settings == {"layers": 2, "seed": 0})
    score, head = max((score, head) for head, score in enumerate(run["induction"][1]))
    return score, run["accuracy"], run["ablated"][1][head]


def content_and_support(T: int = LENGTHS[2], without: str = "attention without positions") -> Result:
    """Claim 16: change the sentence; and which trained networks recall the first of T tokens, and of half as many?"""
    x, other = random_tokens(6), random_tokens(6, seed=1)
    other[-1] = x[-1]
    rows = [random_layer()(sentence, need_weights=True)[1][0, -1] for sentence in (x, other)]
    of_content = (rows[0] - rows[1]).abs().max().item()
    near, cnn, attended, bare = (
        median_accuracy("CNN", T // 2),
        median_accuracy("CNN", T),
        median_accuracy("attention", T),
        median_accuracy(without, T),
    )
    window = build("CNN", T, torch.Generator()).body.span
    score, whole, ablated = induction_head()
    value = Text(
        zh=f"换一句话，最后一个 token 不变，它那一行注意力权重最多变 {of_content:.2f}；训练以后，{T // 2} 个 token 里问第一个，卷积（每个输出只看 {window} 个输入）"
        f"答对 {near:.2f}，{T} 个里问，{cnn:.2f}，而注意力 {attended:.2f}，不给它位置就只有 {bare:.2f}；"
        f"一个归纳头，{score:.2f} 的权重落在该看的地方，去掉它，准确率从 {whole:.3f} 变为 {ablated:.3f}",
        en=f"another sentence with the same last token changes that token's attention weights by up to {of_content:.2f}; trained to "
        f"recall the first of {T // 2} tokens, a convolution (each output sees {window} inputs) is right {near:.2f} of the time; of the "
        f"first of {T}, only {cnn:.2f}, where attention has {attended:.2f}, and {bare:.2f} without positions; an induction head has {score:.2f} of its "
        f"weight where it should look, and removing it changes accuracy from {whole:.3f} to {ablated:.3f}",
    )
    learned_where = of_content > 0.01 and attended >= LEARNED > cnn
    return Result(value, held=learned_where, failed=near >= LEARNED > bare)


CLAIMS = (
    Claim(
        13,
        common=Text(
            zh="Attention 里任意两点只隔一步，从此没有梯度消失。",
            en="In attention any two points are one step apart, and that is the end of vanishing gradients.",
        ),
        correct=Text(
            zh="只能说：没有距离偏置时，一层之内没有随距离的指数衰减；ALiBi 就按设计让它衰减。没有哪个键突出时，影响约按 1/n 稀释；"
            "softmax 一饱和，分数动一点，权重几乎不动；只叠注意力，token 会变得彼此一样。",
            en="Only this is true: without a distance bias nothing decays exponentially with distance within a layer; ALiBi makes it "
            "decay by design. Where no key stands out, influence thins out about as 1/n; the weights of a saturated "
            "softmax hardly follow their scores; and bare stacks make all tokens alike.",
        ),
        verdict=Verdict.WRONG,
        sources=(VASWANI, DONG, PRESS),
        page="attention",
        section=Text(zh="主张一：一步直达", en="Claim 1: one step"),
        check=one_step_fades,
    ),
    Claim(
        14,
        common=Text(
            zh="对 Attention 来说，隔 1000 步和隔 1 步没有分别。",
            en="To attention, 1000 steps away is the same as 1 step away.",
        ),
        correct=Text(
            zh="不加位置，不加掩码：确实如此，叠多少层都一样，而这正说明它不懂次序，位置得另外加；加了以后，远近就有了分别。",
            en="Exactly so without positions or mask, in any number of layers, which is to say that it knows no order. Positions have to "
            "be added, and then near and far differ again.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(POSITIONS,),
        page="attention",
        section=Text(zh="陷阱一：真的等价，因为它不知道次序", en="Trap 1: equivalent indeed, for it knows no order"),
        check=blind_to_order,
    ),
    Claim(
        15,
        common=Text(
            zh="Attention 的所有位置一次算完，GPU 一点也不闲着。",
            en="Attention computes all positions at once and leaves no part of a GPU idle.",
        ),
        correct=Text(
            zh="一次算完说的是训练，生成还得一个一个地写。GPU 也会闲着（依据来源）：读写显存可以比计算更费时间，FlashAttention 正是为此而作。",
            en="At once in training; in generation tokens are still written one by one. And parts of a GPU do idle (by the source): "
            "reading and writing memory can take longer than computing, which is why there is FlashAttention.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI, DAO),
        page="attention",
        section=Text(zh="主张二：一次算完", en="Claim 2: all at once"),
        check=all_at_once,
    ),
    Claim(
        16,
        common=Text(
            zh="看谁是学出来的，不必像卷积那样由人定下核的大小。",
            en="Where to look is learned; nobody has to choose a kernel size as in a convolution.",
        ),
        correct=Text(
            zh="卷积的权重也是学的，定死的是看哪几个位置。Attention 学的是怎样打分，权重由内容当场算出；"
            "几个头、d_k、位置和掩码仍由人定。权重能不能当作解释，仍有争论：Jain 和 Wallace 说不能，Wiegreffe 和 Pinter 说要看何谓解释。",
            en="A convolution's weights are learned too; what is fixed is which positions they see. Attention learns how to "
            "score, and content gives the weights. Heads, d_k, positions and masks are still chosen. Whether a weight explains "
            "is disputed: Jain and Wallace say no, Wiegreffe and Pinter that it depends on what an explanation is.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI, JAIN, WIEGREFFE),
        page="attention",
        section=Text(zh="主张三：看谁，由内容定", en="Claim 3: content decides"),
        check=content_and_support,
    ),
)
