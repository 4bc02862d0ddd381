"""Claims 1, 2 and 21 to 24: who did what, and when. Most rest on their sources alone."""

import torch

from why_attention.attention import MultiHeadAttention
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.claims.trained import recalled
from why_attention.explorable import Text
from why_attention.influence import token_diversity
from why_attention.stack import hidden_states
from why_attention.tasks.recall import LENGTHS

__all__ = ["CLAIMS"]

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


def efficient_since() -> Result:
    """Claim 21: read from the arXiv numbers when the three came out."""
    months = [source.month for source in (KATHAROPOULOS, DAO, GU)]
    since_2023 = [month >= "2023-01" for month in months]
    value = Text(
        zh=f"按 arXiv 编号：Linear Attention {months[0]}，FlashAttention {months[1]}，Mamba {months[2]}",
        en=f"by arXiv number: linear attention {months[0]}, FlashAttention {months[1]}, Mamba {months[2]}",
    )
    return Result(value, held=all(since_2023), failed=not all(since_2023))


@torch.no_grad()
def four_parts(depth: int = 12, n: int = 32, d: int = 16) -> Result:
    """Claim 24: stack attention, FFN, residual and normalisation, and nothing else: do tokens differ, is order seen?"""
    generator = torch.Generator().manual_seed(0)
    x, order = torch.randn(n, d, generator=generator, dtype=torch.float64), torch.randperm(n, generator=generator)
    bare, layers = [], []
    for _ in range(depth):
        attention = MultiHeadAttention(d, 1, dtype=torch.float64)
        attention.reset_parameters(generator)
        W_1 = torch.randn(d, 4 * d, generator=generator, dtype=torch.float64) / d**0.5
        W_2 = torch.randn(4 * d, d, generator=generator, dtype=torch.float64) / (4 * d) ** 0.5
        bare.append(lambda x, attention=attention: attention(x)[0])
        layers += [bare[-1], lambda x, W_1=W_1, W_2=W_2: (x @ W_1).relu() @ W_2]
    y, shuffled = (hidden_states(layers, tokens, residual=True)[-1] for tokens in (x, x[order]))
    diversity, without = token_diversity(y).item(), token_diversity(hidden_states(bare, x)[-1]).item()
    blind = (shuffled - y[order]).abs().max().item()
    T = LENGTHS[0]
    placed, lost = recalled("attention", T), recalled("attention without positions", T)
    value = Text(
        zh=f"{depth} 层叠下来，token 之间的差异：四样都有，还剩 {diversity:.2f}，光有自注意力，只剩 {without:.0e}；"
        f"可是打乱输入，换回原位的输出只差 {blind:.0e}：四样加起来也不懂次序；"
        f"训练后问 {T} 个 token 里的第一个：有位置编码答对 {placed:.2f}，没有的 {lost:.2f}",
        en=f"after {depth} layers the tokens' diversity is {diversity:.2f} with all four, {without:.0e} with self-attention alone; "
        f"but shuffle the inputs, put the outputs back, and they differ by {blind:.0e}: all four together know no order; "
        f"trained to say which of {T} tokens was first: right {placed:.2f} of the time with positions, {lost:.2f} without",
    )
    return Result(value, held=diversity > 1e6 * without, failed=blind < 1e-10)


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
            zh="TextCNN 只有一层卷积，再在时间上取最大值；ByteNet 是膨胀的；ConvS2S 的解码器每层都带着一个 attention 模块。",
            en="TextCNN is one layer and a maximum over time; ByteNet is dilated; ConvS2S has an attention module in every layer "
            "of its decoder.",
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
            zh="年份不对；三件事也不是一回事：FlashAttention 减少的是显存读写，不减计算量；Mamba 走的是循环的路，不是一步直达。",
            en="The dates are wrong, and the three are not alike: FlashAttention cuts traffic to memory, not FLOPs, and the path of "
            "Mamba is recurrent, not one step.",
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
            zh="还少不了位置编码、解码器的掩码和交叉注意力。更强：英德翻译 28.4 BLEU；更快：八块 GPU 训练 3.5 天，英法翻译 41.8 BLEU；"
            "更深却说不上：编码器、解码器各 6 层，而此前 GNMT 的 LSTM 各有 8 层。",
            en="Positional encoding, the decoder's mask and cross-attention belong to it too. Stronger: 28.4 BLEU in English-German; "
            "faster: 41.8 BLEU in English-French after 3.5 days on eight GPUs; but not deeper: 6 layers each in encoder and "
            "decoder, where GNMT's LSTMs had 8 before.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(MODEL, WU),
        page="summary",
        section=Text(zh="2017 年新在哪里", en="What was new in 2017"),
        check=four_parts,
    ),
)
