"""Claims 13 to 16: what a path of one step does not promise, what order, time and design attention still needs."""

import torch
from torch import Tensor

from why_attention.attention import MultiHeadAttention
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.claims.trained import induction_head, recalled
from why_attention.convolution import Convolution
from why_attention.dependency_graph import DependencyGraph, attention, path_length, sequential_steps
from why_attention.explorable import Text
from why_attention.explorable.numbers import power_text
from why_attention.influence import influence_matrix, token_diversity
from why_attention.masks import causal_mask
from why_attention.positions import sinusoidal_positions
from why_attention.stack import hidden_states
from why_attention.tasks.recall import LENGTHS

__all__ = ["CLAIMS"]

SIZE = 16  # d
ROUNDING = 1e-10  # results in float64 that differ by less are equal

VASWANI = Source("Vaswani et al. 2017", "1706.03762", Text(zh="表 1", en="Table 1"))
POSITIONS = Source("Vaswani et al. 2017", "1706.03762", Text(zh="3.5 节", en="§3.5"))
DONG = Source("Dong et al. 2021", "2103.03404")
DAO = Source("Dao et al. 2022", "2205.14135")
JAIN = Source("Jain & Wallace 2019", "1902.10186")


def random_layer(seed: int = 0) -> MultiHeadAttention:
    """Return an untrained layer of one head."""
    layer = MultiHeadAttention(SIZE, 1, dtype=torch.float64)
    layer.reset_parameters(torch.Generator().manual_seed(seed))
    return layer


def random_tokens(n: int, seed: int = 0) -> Tensor:
    """Return n tokens from N(0, 1)."""
    return torch.randn(n, SIZE, generator=torch.Generator().manual_seed(1000 + seed), dtype=torch.float64)


def influence_on_others(layer: MultiHeadAttention, x: Tensor) -> float:
    """Return the mean influence of one position on another."""
    M = influence_matrix(lambda x: layer(x, need_weights=True)[0], x)
    n = len(x)
    return ((M.sum() - M.trace()) / (n * (n - 1))).item()


def one_step_fades() -> Result:
    """Claim 13: the path is 1; measure the influence as n grows, the softmax as scores grow, the tokens with depth."""
    path = path_length(attention(64), (0, 1), (1, 64))
    layer, x = random_layer(), random_tokens(64)
    short, long = (influence_on_others(layer, x[:n]) for n in (16, 64))
    sensitivity = []
    for factor in (1, 20):
        A = (factor * layer.W_q(x) @ layer.W_k(x).mT / SIZE**0.5).softmax(-1)
        sensitivity.append((A * (1 - A)).sum(-1).mean().item())
    with torch.no_grad():
        states = hidden_states([lambda x, seed=seed: random_layer(seed)(x)[0] for seed in range(12)], x)
    diversity = token_diversity(states)[[0, -1]].log10().tolist()
    far = LENGTHS[-1]
    right = recalled("attention", far)  # training gathers again what dilution has thinned out
    value = Text(
        zh=f"路长 {path}；n 从 16 到 64，对别处的影响 {short:.2f} → {long:.3f}（乘以 n 是 {16 * short:.1f} 和 {64 * long:.1f}）；"
        f"分数乘 20，Σa(1−a) 从 {sensitivity[0]:.2f} 到 {sensitivity[1]:.2f}；"
        f"光叠 12 层，token 之间的差异从 {power_text(diversity[0])} 到 {power_text(diversity[1])}；"
        f"不过训练以后，隔 {far} 个 token 仍答对 {right:.2f}",
        en=f"path length {path}; n from 16 to 64: influence on others {short:.2f} → {long:.3f} (times n: {16 * short:.1f} and "
        f"{64 * long:.1f}); scores × 20: Σa(1−a) from {sensitivity[0]:.2f} to {sensitivity[1]:.2f}; 12 bare layers: the "
        f"tokens' diversity from {power_text(diversity[0])} to {power_text(diversity[1])}; once trained, though, attention "
        f"recalls across {far} tokens with accuracy {right:.2f}",
    )
    fades = [long < short / 2, sensitivity[1] < sensitivity[0] / 2, diversity[1] < diversity[0] - 2]
    return Result(value, held=not any(fades), failed=path == 1 and all(fades))


def blind_to_order(n: int = 1000) -> Result:
    """Claim 14: shuffle the tokens, with nothing added, with positions and with a mask, and put the outputs back."""
    layer, x = random_layer(), random_tokens(n)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    positions, mask = sinusoidal_positions(n, SIZE, dtype=x.dtype), causal_mask(n, n)

    @torch.no_grad()
    def difference(added: Tensor | float = 0.0, mask: Tensor | None = None) -> float:
        y, shuffled = (layer(tokens + added, mask=mask)[0] for tokens in (x, x[order]))
        return (shuffled - y[order]).abs().max().item()

    plain, placed, masked = difference(), difference(added=positions), difference(mask=mask)
    value = Text(
        zh=f"打乱 {n} 个 token，输出换回原位：什么也不加，最多差 {plain:.0e}；加位置编码，差 {placed:.1f}；加因果掩码，差 {masked:.1f}",
        en=f"{n} tokens shuffled, outputs put back: with nothing added they differ by {plain:.0e} at most, with positions by "
        f"{placed:.1f}, with a causal mask by {masked:.1f}",
    )
    return Result(value, held=plain < ROUNDING, failed=min(placed, masked) > 0.01)


def all_at_once(n: int = 100) -> Result:
    """Claim 15: compute all rows at once and one by one, and count the steps of training and of generation."""
    layer, x = random_layer(), random_tokens(n)
    with torch.no_grad():
        at_once, _ = layer(x, mask=causal_mask(n, n))
        one_by_one = torch.stack([layer(x[:t])[0][-1] for t in range(1, n + 1)])
    error = (at_once - one_by_one).abs().max().item()
    training = sequential_steps(attention(n, causal=True))
    written = DependencyGraph([(0, t) for t in range(n)], [(s, t) for t in range(n) for s in range(t)])
    generation = sequential_steps(written)  # each token is read before the next is written
    value = Text(
        zh=f"{n} 个 token，加因果掩码：一次算完和逐个算最多差 {error:.0e}；训练时先后 {training} 步，生成时先后 {generation} 步",
        en=f"{n} tokens, causal mask: all at once and one by one differ by {error:.0e} at most; {training} step in training, "
        f"{generation} in generation",
    )
    return Result(value, held=error < ROUNDING and training == 1, failed=generation == n - 1)


def content_and_support() -> Result:
    """Claim 16: change the sentence but for its last token, then train a convolution for a step: what changes?"""
    x, other = random_tokens(6), random_tokens(6, seed=1)
    other[-1] = x[-1]
    attend, convolve = random_layer(), Convolution(SIZE, 3, dtype=torch.float64)
    convolve.reset_parameters(torch.Generator().manual_seed(0))
    rows = [attend(sentence, need_weights=True)[1][0, -1] for sentence in (x, other)]
    of_content = (rows[0] - rows[1]).abs().max().item()
    kernels = [influence_matrix(convolve, sentence)[-1] for sentence in (x, other)]
    of_support = (kernels[0] - kernels[1]).abs().max().item()

    before = convolve.W.detach().clone()
    convolve(x).pow(2).mean().backward()  # any loss will do
    with torch.no_grad():
        convolve.W -= 0.1 * convolve.W.grad
    learned = (convolve.W - before).abs().max().item()
    outside = influence_matrix(convolve, x)[-1, :-3].max().item()

    score, whole, without = induction_head()
    value = Text(
        zh=f"换一句话，注意力那一行最多变 {of_content:.2f}，卷积的影响变 {of_support:.0f}；"
        f"卷积训练一步，权重变了 {learned:.3f}，窗口之外的影响还是 {outside:.0f}；"
        f"训练出的一个归纳头，{score:.2f} 的权重落在该看的地方，拿掉它，正确率从 {whole:.3f} 只到 {without:.3f}",
        en=f"another sentence changes attention's row by up to {of_content:.2f}, a convolution's influence by {of_support:.0f}; "
        f"a step of training changes the convolution's weights by {learned:.3f}, and outside its window influence stays {outside:.0f}; "
        f"a trained induction head has {score:.2f} of its weight where it should look, and without it accuracy goes from "
        f"{whole:.3f} to {without:.3f} only",
    )
    return Result(
        value,
        held=of_content > 0.01 and of_support == 0,
        failed=learned > 0 and outside == 0 and whole - without < 0.05,
    )


CLAIMS = (
    Claim(
        13,
        common=Text(
            zh="Attention 里任意两点只隔一步，从此没有梯度消失。",
            en="In attention any two points are one step apart, and that is the end of vanishing gradients.",
        ),
        correct=Text(
            zh="只能说一层之内没有随距离的指数衰减。影响约按 1/n 稀释；softmax 一饱和，分数就收不到梯度；光叠 Attention，token 会变得彼此一样。",
            en="Only this is true: within a layer nothing decays exponentially with distance. Influence thins out like 1/n, a "
            "saturated softmax passes no gradient to its scores, and bare stacks make all tokens alike.",
        ),
        verdict=Verdict.WRONG,
        sources=(VASWANI, DONG),
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
            zh="一层，不加位置，不加掩码：一点不错，而这正说明它不懂次序，位置得另外加；加了以后，远近就有了分别。",
            en="Exactly so in one layer without positions or mask, which is to say that it knows no order. Positions have to "
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
            zh="一次算完说的是训练，生成还得一个一个地写。GPU 也会闲着：读写显存可以比计算更费时间，FlashAttention 正是为此而作。",
            en="At once in training; in generation tokens are still written one by one. And parts of a GPU do idle: reading and "
            "writing memory can take longer than computing, which is why there is FlashAttention.",
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
            "几个头、d_k、位置和掩码仍由人定，权重也还不是解释。",
            en="A convolution's weights are learned too; what is fixed is which positions they see. Attention learns how to "
            "score, and content gives the weights. Heads, d_k, positions and masks are still chosen, and a weight is no "
            "explanation.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI, JAIN),
        page="attention",
        section=Text(zh="主张三：看谁，由内容定", en="Claim 3: content decides"),
        check=content_and_support,
    ),
)
