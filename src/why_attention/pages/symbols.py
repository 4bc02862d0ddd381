"""The symbols of the chapter: one table for formulas, code and figures.

Rows of a token matrix are tokens; rows of scores, weights or influence are queries i, columns are keys j.
A letter with two meanings, on different pages, has two rows.
"""

from dataclasses import dataclass

from IPython.display import Markdown

from explorable import Text

__all__ = ["SYMBOLS", "table"]


@dataclass(frozen=True)
class Symbol:
    """One symbol, as written in a formula (TeX), in code and in a figure; its shape and its meaning.

    code and figure are empty without a short name there; shape is in TeX, empty for a number.
    """

    tex: str
    code: str
    figure: str
    shape: str
    meaning: Text


SYMBOLS = (
    # every page
    Symbol("n", "n", "n", "", Text(zh="序列长度，也就是 token 的个数", en="length of the sequence: how many tokens")),
    Symbol("d", "d", "d", "", Text(zh="一个 token 的分量个数", en="components of a token")),
    Symbol("t", "t", "t", "", Text(zh="第几步，第几个位置", en="which step, which position")),
    Symbol("i", "", "i", "", Text(zh="输出或查询的位置", en="position of an output or a query")),
    Symbol("j", "", "j", "", Text(zh="输入或键的位置", en="position of an input or a key")),
    Symbol("x_t", "x", "x_j", "d", Text(zh="第 $t$ 个输入", en="input at step $t$")),
    Symbol("X", "", "", r"n \times d", Text(zh="所有的输入，一行一个", en="all inputs, one a row")),
    Symbol("y_i", "", "y_i", "d", Text(zh="第 $i$ 个输出", en="output at position $i$")),
    Symbol("L", "", "L", "", Text(zh="层数", en="number of layers")),
    # recurrence
    Symbol("h_t", "h", "h_t", "H", Text(zh="第 $t$ 步的隐状态", en="hidden state at step $t$")),
    Symbol("H", "", "", "", Text(zh="隐状态的分量个数", en="components of the hidden state")),
    Symbol("c_t", "", "c_t", "H", Text(zh="LSTM 的记忆", en="memory of an LSTM")),
    Symbol(
        "s_t", "s", "s_T", r"H \text{ / } 2H", Text(zh="传给下一步的全部状态", en="all of the state that is handed on")
    ),
    Symbol("s_0", "s_0", "", r"H \text{ / } 2H", Text(zh="最初的状态", en="state before the first step")),
    Symbol("W_h", "W_h", "", r"H \times H", Text(zh="乘旧状态的权重", en="weights of the old state")),
    Symbol("W_x", "W_x", "", r"H \times d", Text(zh="乘输入的权重", en="weights of the input")),
    Symbol("b", "b", "", "H", Text(zh="偏置", en="bias")),
    Symbol("b_{hn}", "b_hn", "", "H", Text(zh="GRU 留在重置门里的偏置", en="bias of a GRU inside its reset gate")),
    Symbol("f_t", "", "f_t", "H", Text(zh="遗忘门", en="forget gate")),
    Symbol("i_t", "", "i_t", "H", Text(zh="输入门", en="input gate")),
    Symbol("o_t", "", "o_t", "H", Text(zh="输出门", en="output gate")),
    Symbol(
        "g_t", "", "g_t", "H", Text(zh="LSTM 的候选：这一步要写的", en="candidate of an LSTM: what a step would write")
    ),
    Symbol("z_t", "", "z_t", "H", Text(zh="更新门", en="update gate")),
    Symbol("r_t", "", "r_t", "H", Text(zh="重置门", en="reset gate")),
    Symbol(
        "n_t", "", "n_t", "H", Text(zh="GRU 的候选：这一步要写的", en="candidate of a GRU: what a step would write")
    ),
    Symbol(r"\tau", "", "", "", Text(zh="门的时间尺度，单位是步", en="time scale of a gate, in steps")),
    Symbol("J_t", "", "", "", Text(zh="一步的雅可比矩阵", en="Jacobian matrix of one step")),
    Symbol("T", "T", "T", "", Text(zh="最后一步", en="the last step")),
    Symbol("l", "", "l", "", Text(zh="往回的步数", en="steps back in time")),
    Symbol("g", "", "g", "", Text(zh="增益", en="gain")),
    Symbol(r"\sigma", "", "σ", "", Text(zh="输入尺度", en="scale of the inputs")),
    Symbol("a_t", "a", "", "", Text(zh="线性循环里乘旧状态的数", en="factors of a linear recurrence")),
    Symbol("b_t", "b", "", "", Text(zh="线性循环里新加的数", en="what a linear recurrence adds")),
    # convolution
    Symbol("k", "k", "k", "", Text(zh="卷积核大小", en="size of the kernel")),
    Symbol("W_m", "W", "", r"d \times d", Text(zh="卷积核的第 $m$ 项", en="tap $m$ of a kernel")),
    Symbol("p", "", "", "", Text(zh="窗口往前伸出的格数", en="how far the window reaches back")),
    Symbol("l", "", "l", "", Text(zh="第几层", en="which layer")),
    Symbol("d_l", "", "", "", Text(zh="第 $l$ 层的膨胀", en="dilation of layer $l$")),
    Symbol("s_l", "", "", "", Text(zh="第 $l$ 层的步幅", en="stride of layer $l$")),
    Symbol("R", "", "", "", Text(zh="感受野", en="receptive field")),
    Symbol("I_{ij}", "", "", "", Text(zh="输入 $j$ 对输出 $i$ 的影响", en="influence of input $j$ on output $i$")),
    Symbol(r"\sigma", "", "", "", Text(zh="影响的标准差", en="standard deviation of the influence")),
    # attention
    Symbol("Q", "Q", "", r"L \times d_k", Text(zh="查询，一行一个", en="queries, one a row")),
    Symbol("K", "K", "", r"S \times d_k", Text(zh="键，一行一个", en="keys, one a row")),
    Symbol("V", "V", "", r"S \times d_v", Text(zh="值，一行一个", en="values, one a row")),
    Symbol("q_i", "", "q_i", "d_k", Text(zh="第 $i$ 个查询", en="query $i$")),
    Symbol("k_j", "", "k_j", "d_k", Text(zh="第 $j$ 个键", en="key $j$")),
    Symbol("v_j", "", "v_j", "d_v", Text(zh="第 $j$ 个值", en="value $j$")),
    Symbol("L", "L", "", "", Text(zh="查询的个数", en="number of queries")),
    Symbol("S", "S", "", "", Text(zh="键的个数", en="number of keys")),
    Symbol("d_k", "", "", "", Text(zh="查询和键的分量个数", en="components of a query and of a key")),
    Symbol("d_v", "", "", "", Text(zh="值的分量个数", en="components of a value")),
    Symbol("s_{ij}", "", "s_{ij}", "", Text(zh="查询 $i$ 给键 $j$ 打的分", en="score that query $i$ gives to key $j$")),
    Symbol("A", "", "A", r"L \times S", Text(zh="权重，每行之和为 1", en="weights: each row adds up to 1")),
    Symbol(
        "a_{ij}", "", "a_{ij}", "", Text(zh="查询 $i$ 给键 $j$ 的权重", en="weight that query $i$ gives to key $j$")
    ),
    Symbol(
        "H", "", "", "", Text(zh="一行权重的熵，对各行取平均", en="entropy of a row of weights, its mean over the rows")
    ),
    Symbol(r"\beta", "", "β", "", Text(zh="分数乘上的倍数", en="factor by which scores are multiplied")),
    Symbol(
        r"\Pi",
        "",
        "",
        r"n \times n",
        Text(zh="置换矩阵：把各行换个次序", en="permutation matrix: puts the rows in another order"),
    ),
    Symbol("W_q", "W_q", "", r"d \times d", Text(zh="由 token 得到查询的权重", en="weights from tokens to queries")),
    Symbol("W_k", "W_k", "", r"d \times d", Text(zh="由 token 得到键的权重", en="weights from tokens to keys")),
    Symbol("W_v", "W_v", "", r"d \times d", Text(zh="由 token 得到值的权重", en="weights from tokens to values")),
    Symbol("W_o", "W_o", "", r"d \times d", Text(zh="把各个头合起来的权重", en="weights that join the heads")),
    Symbol("h", "", "", "", Text(zh="头的个数", en="number of heads")),
    Symbol(
        "r",
        "r",
        "",
        "",
        Text(zh="只看近处时，一个查询看几个键", en="keys that a query sees, where it sees only near ones"),
    ),
    Symbol("W", "W", "", "", Text(zh="加性注意力：乘查询的权重", en="additive attention: weights of the query")),
    Symbol("U", "U", "", "", Text(zh="加性注意力：乘键的权重", en="additive attention: weights of the key")),
    Symbol(
        "v", "v", "", "", Text(zh="加性注意力：由 tanh 得到分数", en="additive attention: from the tanh to a score")
    ),
    # the main part
    Symbol("s_i", "", "", "", Text(zh="写第 $i$ 个词时解码器的状态", en="state of the decoder as it writes word $i$")),
    Symbol("h_j", "", "", "", Text(zh="编码器在第 $j$ 个词的状态", en="state of the encoder at word $j$")),
    Symbol(
        "e_{ij}",
        "",
        "",
        "",
        Text(zh="加性注意力：查询 $i$ 给键 $j$ 打的分", en="additive attention: score of key $j$ by query $i$"),
    ),
    Symbol(r"\alpha_{ij}", "", "α_{ij}", "", Text(zh="对齐的权重", en="weight of an alignment")),
    Symbol("c_i", "", "", "", Text(zh="写第 $i$ 个词时的上下文向量", en="context vector for word $i$")),
    Symbol("c", "", "", "", Text(zh="固定的上下文向量", en="fixed context vector")),
    Symbol("L", "", "L", "", Text(zh="损失", en="loss")),
    Symbol("e_1", "", "", "d", Text(zh="第一个符号的嵌入", en="embedding of the first symbol")),
    Symbol(
        "W_1", "W_1", "", r"4d \times d", Text(zh="前馈网络的第一个权重", en="first weights of a feed-forward network")
    ),
    Symbol("b_1", "", "", "4d", Text(zh="前馈网络的第一个偏置", en="first bias of a feed-forward network")),
    Symbol(
        "W_2", "W_2", "", r"d \times 4d", Text(zh="前馈网络的第二个权重", en="second weights of a feed-forward network")
    ),
    Symbol("b_2", "", "", "d", Text(zh="前馈网络的第二个偏置", en="second bias of a feed-forward network")),
    Symbol(
        "m",
        "",
        "",
        r"S \times d",
        Text(zh="交叉注意力读的编码器输出", en="output of the encoder that cross-attention reads"),
    ),
)


def table() -> Markdown:
    """Return the table in the page's language."""
    head = Text(zh="| 符号 | 代码 | 图 | 形状 | 意思 |", en="| symbol | code | figures | shape | meaning |")
    rows = [
        f"| ${symbol.tex}$ | {code(symbol.code)} | {code(symbol.figure)} | {math(symbol.shape)} | {symbol.meaning} |"
        for symbol in SYMBOLS
    ]
    return Markdown("\n".join([str(head), "|---|---|---|---|---|", *rows]))


def code(name: str) -> str:
    """Return a name as Markdown code, or an empty cell."""
    return f"`{name}`" if name else ""


def math(tex: str) -> str:
    """Return TeX as a formula, or an empty cell."""
    return f"${tex}$" if tex else ""
