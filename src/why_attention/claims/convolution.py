"""Claims 11 and 12: how many layers a convolution needs to reach far, and what dilation saves."""

from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.explorable import Text
from why_attention.receptive_field import Layer, cone, depth_needed, span, support

__all__ = ["CLAIMS"]

OORD = Source("van den Oord et al. 2016", "1609.03499", Text(zh="2.1 节", en="§2.1"))
ARAUJO = Source("Araujo et al. 2019", "10.23915/distill.00021")


def layers_to_reach(distance: int = 1000, k: int = 3) -> Result:
    """Claim 11: mark layer by layer what the last position reads, with just enough layers and with one less."""

    def reads_the_first(depth: int, causal: bool) -> bool:
        return bool(cone([Layer(k)] * depth, distance + 1, distance, causal)[0, 0])

    depths, confirmed = {}, True
    for causal in (True, False):
        depths[causal] = depth = depth_needed(distance, k, causal)
        confirmed &= reads_the_first(depth, causal) and not reads_the_first(depth - 1, causal)
    common = -(-distance // (k - 1))  # ⌈|i − j| / (k − 1)⌉
    value = Text(
        zh=f"k = {k}，距离 {distance}：因果卷积 {depths[True]} 层，居中的卷积 {depths[False]} 层"
        + ("（逐层标记，少一层都够不着）" if confirmed else "（逐层标记，对不上）"),
        en=f"k = {k}, distance {distance}: {depths[True]} causal layers, {depths[False]} centred ones"
        + (
            " (marked layer by layer; one less does not reach)"
            if confirmed
            else " (marked layer by layer; it does not fit)"
        ),
    )
    return Result(value, held=confirmed and depths[True] == common, failed=confirmed and depths[False] > common)


def dilated_blocks() -> Result:
    """Claim 12: the receptive field of one block of dilations 1, 2 … 512, of three, and layers to reach 1000."""
    block = [Layer(2, dilation=2**layer) for layer in range(10)]
    fields = [span(block[:layers]) for layers in range(1, 11)]
    three = span(block * 3)
    gaps = any(not support(layers).all() for layers in (block, block * 3))
    depths = [depth_needed(1000, 3, growth=growth) for growth in (1, 2, 3)]
    value = Text(
        zh=f"k = 2，d = 1 … 512：感受野 {fields[-1]}；三组叠起来是 {three}，不是 {fields[-1]}³。"
        f"k = 3 够到 1000 步：不膨胀 {depths[0]} 层，每层翻倍 {depths[1]} 层，每层乘 3 要 {depths[2]} 层",
        en=f"k = 2, d = 1 … 512: a field of {fields[-1]}; three such blocks make {three}, not {fields[-1]}³. To reach 1000 "
        f"with k = 3: {depths[0]} layers without dilation, {depths[1]} if it doubles, {depths[2]} with a factor of 3",
    )
    doubles = fields == [2**layers for layers in range(1, 11)] and not gaps
    return Result(value, held=doubles, failed=three - 1 == 3 * (fields[-1] - 1))  # blocks add


CLAIMS = (
    Claim(
        11,
        common=Text(
            zh="卷积要看到距离 |i−j|，得叠 |i−j|/(k−1) 层：k = 3 看 1000 步，大约 500 层。",
            en="To see a distance of |i−j| takes |i−j|/(k−1) layers of convolution: about 500 for 1000 steps with k = 3.",
        ),
        correct=Text(
            zh="商要进成整数，而且这是因果卷积的公式；居中的卷积两边平分，要多一倍。步幅、膨胀和池化都会改变它。",
            en="Rounded up, and for causal kernels; a centred one reads half to either side and needs twice as many. Stride, "
            "dilation and pooling all change it.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(ARAUJO,),
        page="convolution",
        section=Text(zh="公式默认了什么", en="What the formula takes for granted"),
        check=layers_to_reach,
    ),
    Claim(
        12,
        common=Text(
            zh="膨胀卷积的感受野随层数按指数增长。",
            en="With dilation the receptive field grows exponentially with depth.",
        ),
        correct=Text(
            zh="只在一组之内：R = 1 + Σ(k_l−1)d_l∏s_m。重复的组是相加，而且每层乘的倍数超过 k 就会漏掉输入。",
            en="Within a block only: R = 1 + Σ(k_l−1)d_l∏s_m. Repeated blocks add, and a dilation that grows by more than a "
            "factor of k a layer misses inputs.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(OORD,),
        page="convolution",
        section=Text(zh="每层翻倍", en="Doubling with each layer"),
        check=dilated_blocks,
    ),
)
