"""Claims 1, 2 and 21 to 24: who did what, and when. Most rest on their sources only."""

from collections import deque
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from explorable import Text
from why_attention.attention import MultiHeadAttention
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.cost import counted_flops
from why_attention.influence import token_diversity
from why_attention.positions import sinusoidal_positions
from why_attention.stack import hidden_states
from why_attention.tasks.recall import LENGTHS, median_accuracy
from why_attention.transformer import FeedForward

__all__ = ["CLAIMS"]

Run = Callable[[list[Tensor]], Tensor]  # maps n tokens to the last output

CHENG = Source("Cheng et al. 2016", "1601.06733")
PARIKH = Source("Parikh et al. 2016", "1606.01933")
RELATED = Source("Vaswani et al. 2017", "1706.03762", Text(zh="第 2 节", en="§2"))
MODEL = Source("Vaswani et al. 2017", "1706.03762", Text(zh="摘要和第 3 节", en="abstract, §3"))
KIM = Source("Kim 2014", "10.3115/v1/D14-1181")
KALCHBRENNER = Source("Kalchbrenner et al. 2016", "1610.10099")
GEHRING = Source("Gehring et al. 2017", "1705.03122")
KATHAROPOULOS = Source("Katharopoulos et al. 2020", "2006.16236")
DAO = Source("Dao et al. 2022", "2205.14135")
GU = Source("Gu & Dao 2023", "2312.00752")
BAHDANAU = Source("Bahdanau et al. 2015", "1409.0473")
SUTSKEVER = Source("Sutskever et al. 2014", "1409.3215")
WU = Source("Wu et al. 2016", "1609.08144", Text(zh="摘要", en="abstract"))


SIZE = 16  # d


def tokens(n: int) -> list[Tensor]:
    """Return n tokens (1, d) from N(0, 1), each a leaf of autograd's graph."""
    drawn = torch.randn(n, SIZE, generator=torch.Generator().manual_seed(0))
    return [token.clone().requires_grad_() for token in drawn.split(1)]


def softmax_attention(x: list[Tensor], fused: bool = False) -> Tensor:
    """Return the last output of softmax attention, with the n × n weights or in a fused kernel."""
    return MultiHeadAttention(SIZE, 1)(torch.cat(x), need_weights=not fused)[0][-1]


def linear_attention(x: list[Tensor]) -> Tensor:
    """Return the last row of φ(Q) (φ(K)ᵀ V), φ = 1 + elu, not normalised.  Source: Katharopoulos et al. 2020, §3.2."""
    Q, K, V = (torch.cat(x) @ W for W in torch.ones(3, SIZE, SIZE) / SIZE)
    return ((1 + F.elu(Q)) @ ((1 + F.elu(K)).mT @ V))[-1]


def selective_recurrence(x: list[Tensor]) -> Tensor:
    """Return y_n of H_t = a(x_t) ⊙ H_{t-1} + x_t B(x_t)ᵀ, y_t = H_t C(x_t), a recurrence like Mamba's."""
    W_a, W_B, W_C = torch.ones(3, SIZE, SIZE) / SIZE
    H = torch.zeros(SIZE, SIZE)
    for x_t in x:
        H = (x_t @ W_a).sigmoid().mT * H + x_t.mT @ (x_t @ W_B)
        y = H @ (x_t @ W_C).mT
    return y


def shortest_path(y: Tensor, leaf: Tensor) -> int | None:
    """Return the number of operations on the shortest path from a leaf of autograd's graph to y, or None."""
    end = leaf.view_as(leaf).grad_fn.next_functions[0][0]
    lengths, queue = {y.grad_fn: 1}, deque([y.grad_fn])
    while queue:
        node = queue.popleft()
        for before, _ in node.next_functions:
            if before is end:
                return lengths[node]
            if before is not None and before not in lengths:
                lengths[before] = lengths[node] + 1
                queue.append(before)
    return None


METHODS = (  # name, paper, and how to run it
    (Text(zh="Linear Attention", en="linear attention"), KATHAROPOULOS, linear_attention),
    (Text(zh="FlashAttention", en="FlashAttention"), DAO, lambda x: softmax_attention(x, fused=True)),
    (Text(zh="Mamba 那样的循环", en="a recurrence like Mamba's"), GU, selective_recurrence),
)


def efficient_since(methods: tuple[tuple[Text, Source, Run], ...] = METHODS, since: str = "2023-01") -> Result:
    """Claim 21: the month of each method on arXiv, and its FLOPs and path length as n doubles."""
    short, long = tokens(128), tokens(256)

    def growth(run: Run) -> float:
        return counted_flops(lambda: run(long)) / counted_flops(lambda: run(short))

    usual, parts, zh, en = growth(softmax_attention), [], [], []
    for name, paper, run in methods:
        flops, paths = growth(run), [shortest_path(run(x), x[0]) for x in (short, long)]
        parts.append((paper.month >= since, flops < 0.9 * usual, paths[0] == paths[1]))
        zh.append(f"{name.words['zh']}（{paper.month}）：FLOP 变成 {flops:.2f} 倍，{paths[0]} → {paths[1]} 次")
        en.append(f"{name.words['en']} ({paper.month}): FLOPs × {flops:.2f}, {paths[0]} → {paths[1]}")
    value = Text(
        zh=f"n 从 {len(short)} 到 {len(long)}，不融合的注意力的 FLOP 变成 {usual:.2f} 倍。三种方法，另数首个 token 到末尾的输出最少隔几次运算。"
        + "；".join(zh),
        en=f"n from {len(short)} to {len(long)}: FLOPs of attention, not fused, × {usual:.2f}; the three, with the fewest operations from "
        "the first token to the last output: " + "; ".join(en),
    )
    return Result(value, held=any(map(all, parts)), failed=not all(map(all, parts)))


def output_of(layer: MultiHeadAttention) -> Callable[[Tensor], Tensor]:
    """Return a layer as a function that returns its output only."""
    return lambda x: layer(x)[0]


@torch.no_grad()
def four_parts(residual: bool = True, positions: bool = False, depth: int = 12, n: int = 32) -> Result:
    """Claim 24: stack only attention, FFN, residual and normalisation: do tokens differ, does order matter?"""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, SIZE, generator=generator, dtype=torch.float64)
    order = torch.randperm(n, generator=generator)
    added = sinusoidal_positions(n, SIZE, dtype=x.dtype) if positions else 0
    bare: list[Callable[[Tensor], Tensor]] = []
    layers: list[Callable[[Tensor], Tensor]] = []
    for _ in range(depth):
        layer, network = MultiHeadAttention(SIZE, 1, dtype=x.dtype), FeedForward(SIZE, 4 * SIZE, dtype=x.dtype)
        layer.reset_parameters(generator)
        for W in (network.W_1, network.W_2):
            W.weight.normal_(0, W.in_features**-0.5, generator=generator)
            W.bias.zero_()
        bare.append(output_of(layer))
        layers += [bare[-1], network]
    y, shuffled = (hidden_states(layers, tokens + added, residual=residual)[-1] for tokens in (x, x[order]))
    diversity, without = token_diversity(y).item(), token_diversity(hidden_states(bare, x)[-1]).item()
    blind = (shuffled - y[order]).abs().max().item()
    T = LENGTHS[0]
    placed, lost = median_accuracy("attention", T), median_accuracy("attention without positions", T)
    value = Text(
        zh=f"这里量的只是“只靠”二字。{depth} 层叠下来，token 之间的差异：四样都有，还剩 {diversity:.2f}，只有自注意力，剩 {without:.0e}；"
        f"打乱输入，换回原位的输出相差 {blind:.0e}：四样加起来也不懂次序；"
        f"另有一层注意力，训练后问 {T} 个 token 里的第一个：有位置编码答对 {placed:.2f}，没有的 {lost:.2f}",
        en=f"measured here: whether these four alone are enough. After {depth} layers the tokens' diversity is {diversity:.2f} with all four, "
        f"{without:.0e} with self-attention only; shuffle the inputs, put the outputs back, and they differ by {blind:.0e}: all "
        f"four together know no order; one layer of attention, trained to say which of {T} tokens was first: right "
        f"{placed:.2f} of the time with positions, {lost:.2f} without",
    )
    return Result(value, held=diversity > 0.01 > without, failed=blind < 1e-10)


CLAIMS = (
    Claim(
        1,
        common=Text(
            zh="2017 年以前，处理语言序列只有循环网络和卷积网络两条路。",
            en="Before 2017 there were two ways to process sequences of language: recurrent and convolutional networks.",
        ),
        correct=Text(
            zh="说的只是神经网络的主流。n 元模型、隐马尔可夫模型、条件随机场和基于短语的翻译一直在用；自注意力在 2016 年也已经有了。",
            en="True of the mainstream of neural networks only. n-grams, hidden Markov models, conditional random fields and "
            "phrase-based translation were in use, and by 2016 there was self-attention.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(RELATED, CHENG, PARIKH),
        page="two-roads",
        section=Text(zh="还有别的路", en="Other roads"),
    ),
    Claim(
        2,
        common=Text(
            zh="TextCNN、ByteNet 和 ConvS2S 都是把小卷积核一层层叠起来的纯卷积网络。",
            en="TextCNN, ByteNet and ConvS2S are pure stacks of small convolutions.",
        ),
        correct=Text(
            zh="三者之中只有 ByteNet 是，而且它的卷积是膨胀的。TextCNN 只有一层卷积，再在时间上取最大值；ConvS2S 的解码器每层都带着一个 attention 模块。",
            en="Of the three only ByteNet is, and its convolutions are dilated. TextCNN is one layer and a maximum over time; "
            "ConvS2S has an attention module in every layer of its decoder.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(KIM, KALCHBRENNER, GEHRING),
        page="convolution",
        section=Text(zh="替卷积说几句公道话", en="A word for convolution"),
    ),
    Claim(
        21,
        common=Text(
            zh="2023 年以来，FlashAttention、Linear Attention 和 Mamba 在保住一步直达的同时压低了平方的开销。",
            en="Since 2023, FlashAttention, linear attention and Mamba have cut the quadratic cost and kept the one-step path.",
        ),
        correct=Text(
            zh="没有一个三样都占：Linear Attention 保住了一步直达，计算量与 n 成正比，但它是 2020 年的；FlashAttention 是 2022 年的，"
            "减少的是显存读写（依据来源），不是计算量；Mamba 是 2023 年底的，计算量与 n 成正比，路径却是循环的，不是一步直达。",
            en="Of the three, not one does all of it: linear attention keeps the one-step path and takes work proportional to n, but is "
            "of 2020; FlashAttention is of 2022, and cuts traffic to memory (by the source), not FLOPs; Mamba is of the end of "
            "2023 and takes work proportional to n, but its path is recurrent, not one step.",
        ),
        verdict=Verdict.WRONG,
        sources=(KATHAROPOULOS, DAO, GU),
        page="summary",
        section=Text(zh="2017 年新在哪里", en="What was new in 2017"),
        check=efficient_since,
    ),
    Claim(
        22,
        common=Text(
            zh="Attention 不是 Transformer 发明的，Bahdanau 等人在 ICLR 2015 的翻译模型里已经用了。",
            en="The Transformer did not invent attention: Bahdanau et al. used it for translation, at ICLR 2015.",
        ),
        correct=Text(
            zh="就是这样；论文 2014 年 9 月就挂上了 arXiv。",
            en="Just so; the paper has been on arXiv since September 2014.",
        ),
        verdict=Verdict.RIGHT,
        sources=(BAHDANAU,),
        page="summary",
        section=Text(zh="2017 年新在哪里", en="What was new in 2017"),
    ),
    Claim(
        23,
        common=Text(
            zh="在 Bahdanau 的模型里，编码原文的主力是 LSTM。",
            en="In the model of Bahdanau et al. it was an LSTM that encoded the source.",
        ),
        correct=Text(
            zh="是双向的门控循环网络，门和 GRU 相仿；用 LSTM 的是 Sutskever 等人 2014 年的模型，它没有 attention。",
            en="It was a bidirectional gated network, with gates like a GRU's; the LSTM is in the model of Sutskever et al. 2014, "
            "which has no attention.",
        ),
        verdict=Verdict.WRONG,
        sources=(BAHDANAU, SUTSKEVER),
        page="main-part",
        section=Text(zh="每写一个词，重新看一遍", en="A fresh look for every word"),
    ),
    Claim(
        24,
        common=Text(
            zh="只靠自注意力、前馈网络、残差和归一化，就搭出了更强、更快、更深的模型。",
            en="Self-attention, feed-forward networks, residual connections and normalisation alone make a model that is "
            "stronger, faster and deeper.",
        ),
        correct=Text(
            zh="还少不了位置编码、解码器的掩码和交叉注意力。强、快、深依据来源：更强，英德翻译 28.4 BLEU；更快，八块 GPU 训练 3.5 天，"
            "英法翻译 41.8 BLEU；按论文各自所说的层数，更深却说不上：编码器、解码器各 6 层（每层又有两三个子层），而此前 GNMT 的 LSTM 各有 8 层。",
            en="Positional encoding, the decoder's mask and cross-attention belong to it too. The rest is by the sources: stronger, 28.4 "
            "BLEU in English-German; faster, 41.8 BLEU in English-French after 3.5 days on eight GPUs; but not deeper "
            "by the layers that each paper counts, 6 each in encoder and decoder (of two or three sublayers), where GNMT's LSTMs "
            "had 8 before.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(MODEL, WU),
        page="summary",
        section=Text(zh="2017 年新在哪里", en="What was new in 2017"),
        check=four_parts,
    ),
)
