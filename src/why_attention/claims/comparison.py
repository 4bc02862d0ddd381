"""Claims 17 to 20 and 25: the table of complexity, FLOPs and memory of attention, and the summary that follows."""

from collections.abc import Callable

import torch
from torch import Tensor

from explorable import Text
from why_attention import cost
from why_attention.attention import MultiHeadAttention
from why_attention.claims.attention import content_and_support, one_step_fades
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.claims.convolution import layers_to_reach
from why_attention.claims.recurrence import work_that_need_not_wait
from why_attention.cost import counted_flops, searched_path_length
from why_attention.dependency_graph import attention, convolution, recurrence, sequential_steps

__all__ = ["CLAIMS"]

SIZE = 64  # d

VASWANI = Source("Vaswani et al. 2017", "1706.03762", Text(zh="表 1", en="Table 1"))
RABE = Source("Rabe & Staats 2021", "2112.05682")
DAO = Source("Dao et al. 2022", "2205.14135")


def random_layer(d: int = SIZE) -> MultiHeadAttention:
    """Return an untrained layer of one head; its weights change neither FLOPs nor memory."""
    layer = MultiHeadAttention(d, 1)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    return layer


def random_tokens(n: int, d: int = SIZE) -> Tensor:
    """Return n tokens from N(0, 1)."""
    return torch.randn(n, d, generator=torch.Generator().manual_seed(0))


def paths_and_steps(n: int = 27, k: int = 3) -> Result:
    """Claim 17: search the graphs of all rows for the maximum path length and the sequential steps."""
    rows = {
        "RNN": (cost.rnn(n, SIZE), recurrence(n)),
        "CNN": (cost.convolution(n, SIZE, k), convolution(n, k, cost.convolution(n, SIZE, k).layers)),
        "CNN (d = 1, 3, 9)": (
            cost.dilated_convolution(n, SIZE, k),
            convolution(n, k, cost.dilated_convolution(n, SIZE, k).layers, growth=k),
        ),
        "attention": (cost.attention(n, SIZE), attention(n)),
        "attention (r = 9)": (
            cost.restricted_attention(n, SIZE, 9),
            attention(n, cost.restricted_attention(n, SIZE, 9).layers, window=4),
        ),
    }
    found = {name: (searched_path_length(graph), sequential_steps(graph)) for name, (_, graph) in rows.items()}
    fits = all(found[name] == (row.path, row.steps * row.layers) for name, (row, _) in rows.items() if name != "RNN")
    fits &= found["RNN"] == (n, n)
    one_layer = searched_path_length(convolution(n, k))
    listed = [f"{name}: {path}" for name, (path, _) in found.items()]
    value = Text(
        zh=f"n = {n}，k = {k}，在图上搜索到的路径长度：{'；'.join(listed)}；只有一层的 CNN，{'有的位置之间没有路径' if one_layer is None else one_layer}",
        en=f"n = {n}, k = {k}, longest path found by search: {'; '.join(listed)}; in a single layer of the CNN "
        f"{'some positions have none' if one_layer is None else one_layer}",
    )
    return Result(value, held=fits, failed=one_layer is None)


def share_of_the_scores(multiples: tuple[float, ...] = (0.5, 2, 16)) -> Result:
    """Claim 18: count the FLOPs of a whole layer at some multiples n of d, and the share that grows with n²."""
    layer, lengths = random_layer(), [int(multiple * SIZE) for multiple in multiples]
    counted = [counted_flops(lambda n=n: layer(random_tokens(n), need_weights=True)) for n in lengths]
    fits = counted == [8 * n * SIZE**2 + 4 * n**2 * SIZE for n in lengths]
    shares = [4 * n**2 * SIZE / flops for n, flops in zip(lengths, counted)]
    at = [f"n = {multiple:g}d".replace(" 1d", " d") for multiple in multiples]
    value = Text(
        zh=f"d = {SIZE}，计数器数出的 FLOP {'正好是' if fits else '不是'} 8nd² + 4n²d；n² 那一项占的份额："
        + "，".join(f"{where} 时 {share:.0%}" for where, share in zip(at, shares)),
        en=f"d = {SIZE}: the FLOPs counted are {'exactly' if fits else 'not'} 8nd² + 4n²d; share of the term in n²: "
        + ", ".join(f"{share:.0%} at {where}" for where, share in zip(at, shares)),
    )
    return Result(value, held=fits and max(shares) > 0.5, failed=fits and min(shares) < 0.5)


def twice_as_long(multiples: tuple[float, ...] = (0.125, 1, 8), d: int = SIZE) -> Result:
    """Claim 19: count the FLOPs of n and 2n tokens at some multiples n of d, of the core and of the whole layer."""
    layer, lengths = random_layer(d), [int(multiple * d) for multiple in multiples]

    def whole(n: int) -> int:
        return counted_flops(lambda: layer(random_tokens(n, d), need_weights=True))

    def core(n: int) -> int:
        return whole(n) - 4 * counted_flops(lambda: layer.W_q(random_tokens(n, d)))  # without the four projections

    ratios = [whole(2 * n) / whole(n) for n in lengths]
    cores = {core(2 * n) / core(n) for n in lengths}
    at = [f"n = {multiple:g}d".replace(" 1d", " d") for multiple in multiples]
    value = Text(
        zh="n 翻倍，整层的 FLOP 变成："
        + "，".join(f"{where} 时 {ratio:.2f} 倍" for where, ratio in zip(at, ratios))
        + f"；只算 QKᵀ 和 AV，总是 {max(cores):.0f} 倍",
        en="twice the n, FLOPs of the whole layer: "
        + ", ".join(f"× {ratio:.2f} at {where}" for where, ratio in zip(at, ratios))
        + f"; QKᵀ and AV by themselves: always × {max(cores):.0f}",
    )
    return Result(value, held=cores == {4.0}, failed=min(ratios) < 3)


def kept_for_backward(layer: MultiHeadAttention, x: Tensor, need_weights: bool) -> int:
    """Return how many bytes a forward pass keeps for the backward pass."""
    kept = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()  # kept, or its address would be reused
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output, _ = layer(x, need_weights=need_weights)
    return sum(storage.nbytes() for storage in kept.values())


def memory(kinds: tuple[bool, ...] = (True, False)) -> Result:
    """Claim 20: the memory that training keeps of one layer, with stored weights (True) and fused (False)."""
    layer, lengths = random_layer(), (1024, 2048)
    kept = {kind: [kept_for_backward(layer, random_tokens(n), kind) for n in lengths] for kind in kinds}
    growth = {kind: large / small for kind, (small, large) in kept.items()}
    names = {
        True: Text(zh="存下权重表", en="with the table of weights"),
        False: Text(zh="用融合算子", en="in a fused kernel"),
    }
    mib = {kind: " → ".join(f"{size / 2**20:.1f}" for size in sizes) for kind, sizes in kept.items()}
    value = Text(
        zh=f"n 从 {lengths[0]} 到 {lengths[1]}，为反向传播保留的内存："
        + "；".join(f"{names[kind].words['zh']}，{mib[kind]} MiB（{growth[kind]:.1f} 倍）" for kind in kinds),
        en=f"n from {lengths[0]} to {lengths[1]}, kept for the backward pass: "
        + ", ".join(f"{names[kind].words['en']} {mib[kind]} MiB (× {growth[kind]:.1f})" for kind in kinds),
    )
    return Result(value, held=max(growth.values()) > 3, failed=min(growth.values()) < 2.2)


PARTS = {
    4: work_that_need_not_wait,
    11: layers_to_reach,
    13: one_step_fades,
    16: content_and_support,
    17: paths_and_steps,
}


def summary(parts: dict[int, Callable[[], Result]] = PARTS) -> Result:
    """Claim 25: each row of the summary rests on an earlier claim; check those again."""
    found = {number: check() for number, check in parts.items()}
    zh, en = ([f"{n} {part.verdict.value.words[lang]}" for n, part in found.items()] for lang in ("zh", "en"))
    value = Text(
        zh=f"再量一遍它所依据的几条：{'，'.join(zh)}",
        en=f"the claims that it rests on, measured again: {', '.join(en)}",
    )
    return Result(value, any(part.held for part in found.values()), all(part.failed for part in found.values()))


CLAIMS = (
    Claim(
        17,
        common=Text(
            zh="每层的计算量和最大路径长度：RNN 是 n·d² 和 n，CNN 是 k·n·d² 和 log_k n 或 n/k，Attention 是 n²·d 和 1。",
            en="Work per layer and maximum path length: n·d² and n for an RNN, k·n·d² and log_k n or n/k for a CNN, n²·d and 1 for "
            "attention.",
        ),
        correct=Text(
            zh="论文的表还有两样：顺序操作数单独一列；只看邻近 r 个的 Attention 单独一行（r·n·d，路径长度 n/r）。"
            "CNN 的计算量是一层的，路径却要叠许多层才连得通，两列说的不是同一个网络。这里只量了路径和步数，计算量依据来源；n²·d 没有算投影（见第 18 条）。",
            en="The paper's table has two things more: a column for sequential operations, and a row for attention to r "
            "neighbours (r·n·d, path n/r). A CNN's work is that of one layer, but its path takes many, so the two columns do "
            "not belong to one network. Only paths and steps are measured here, the work is by the source; n²·d leaves out the "
            "projections (claim 18).",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI,),
        page="comparison",
        check=paths_and_steps,
    ),
    Claim(
        18,
        common=Text(zh="一层 Attention 的计算量是 O(n²d)。", en="A layer of attention takes O(n²d) work."),
        correct=Text(
            zh="连四个投影一起，是 8nd² + 4n²d FLOP（一次乘加算 2）；n 超过 2d，n² 那一项才过半。",
            en="With its four projections it takes 8nd² + 4n²d FLOPs (a multiply-add counts as 2), and the term in n² has more "
            "than half only beyond n = 2d.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI,),
        page="comparison",
        check=share_of_the_scores,
    ),
    Claim(
        19,
        common=Text(
            zh="序列长一倍，Attention 的计算量就是四倍。", en="Twice the sequence, four times the work of attention."
        ),
        correct=Text(
            zh="四倍是 n 远大于 d 的极限；整层算起来，n = d 时不到三倍。",
            en="Four is the limit for n far above d; at n = d the whole layer takes less than three times.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI,),
        page="comparison",
        check=twice_as_long,
    ),
    Claim(
        20,
        common=Text(zh="Attention 的内存是 O(n²)。", en="Attention takes O(n²) memory."),
        correct=Text(
            zh="把 n×n 的权重整张存下来才要；融合算子一块一块地算，结果一样（相差舍入误差），内存与 n 成正比，计算量仍是 n²。",
            en="Only where the n×n weights are stored. A fused kernel works block by block with the same result up to rounding, in "
            "memory proportional to n; its work is still n².",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(RABE, DAO),
        page="comparison",
        check=memory,
    ),
    Claim(
        25,
        common=Text(
            zh="一句话小结：RNN 不能并行，CNN 隔得远就要深叠、核是定好的，Attention 一步直达、看谁由数据定。",
            en="In short: an RNN cannot run in parallel, a CNN must be deep to see far and its kernel is preset, attention is "
            "one step away and lets the data decide.",
        ),
        correct=Text(
            zh="每一格都要带上前面的限定：并行见第 4 条，深度见第 11 条，一步直达见第 13 条，看谁见第 16 条，路径长度见第 17 条。",
            en="Every cell needs the qualifier found above: claim 4 for parallelism, 11 for depth, 13 for the one step, 16 for "
            "what is looked at, 17 for path lengths.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(VASWANI,),
        page="summary",
        section=Text(zh="一张表", en="One table"),
        check=summary,
    ),
)
