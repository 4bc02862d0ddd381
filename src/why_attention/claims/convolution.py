"""Claims 11 and 12: how many layers a convolution needs for a distance, and what dilation saves."""

import random
from collections.abc import Sequence

from explorable import Text
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.receptive_field import Layer, cone, depth_needed, span, support

__all__ = ["CLAIMS"]

OORD = Source("van den Oord et al. 2016", "1609.03499", Text(zh="2.1 节", en="§2.1"))
ARAUJO = Source("Araujo et al. 2019", "10.23915/distill.00021")


def layers_to_reach(distance: int = 1000, k: int = 3, growth: int = 1) -> Result:
    """Claim 11: mark layer by layer what the last position reads, with just enough layers and with one less."""

    def reads_the_first(depth: int, causal: bool) -> bool:
        layers = [Layer(k, growth**layer) for layer in range(depth)]
        return bool(cone(layers, distance + 1, distance, causal)[0, 0])

    depths, confirmed = {}, True
    for causal in (True, False):
        depths[causal] = depth = depth_needed(distance, k, causal, growth)
        confirmed &= reads_the_first(depth, causal) and not reads_the_first(depth - 1, causal)
    common = -(-distance // (k - 1))  # ⌈|i − j| / (k − 1)⌉
    value = Text(
        zh=f"k = {k}，距离 {distance}：因果卷积 {depths[True]} 层，居中的卷积 {depths[False]} 层"
        + ("（逐层标记，少一层都到不了）" if confirmed else "（逐层标记，对不上）"),
        en=f"k = {k}, distance {distance}: {depths[True]} causal layers, {depths[False]} centred ones"
        + (
            " (marked layer by layer; one less does not reach)"
            if confirmed
            else " (marked layer by layer; it does not fit)"
        ),
    )
    fits = [depth == common for depth in depths.values()]
    return Result(value, held=confirmed and any(fits), failed=confirmed and not all(fits))


def has_holes(dilations: Sequence[int], k: int) -> bool:
    """Whether an output misses inputs inside its span."""
    return not support([Layer(k, dilation) for dilation in dilations]).all()


def within_the_field(dilations: Sequence[int], k: int) -> bool:
    """Whether each dilation is at most the field of the layers below it."""
    layers = [Layer(k, dilation) for dilation in dilations]
    return all(layer.dilation <= span(layers[:below]) for below, layer in enumerate(layers))


def random_stacks(count: int = 300) -> list[tuple[list[int], int]]:
    """Return random lists of dilations, and kernel sizes."""
    draw = random.Random(0)
    return [([draw.randint(1, 6) for _ in range(draw.randint(2, 6))], draw.randint(2, 4)) for _ in range(count)]


def dilated_blocks(growth: int = 2, k: int = 2, copies: int = 3) -> Result:
    """Claim 12: the field of one block of ten growing dilations, and of copies of it; and which dilations leave holes?"""
    block = [Layer(k, growth**layer) for layer in range(10)]
    fields = [span(block[:layers]) for layers in range(1, 11)]
    together = span(block * copies)
    stacks = random_stacks()
    sufficient = not any(has_holes(*stack) for stack in stacks if within_the_field(*stack))
    exact = all(has_holes(stack, k) != within_the_field(sorted(stack), k) for stack, k in stacks)
    whole = [sum(not has_holes(*stack) for stack in stacks), len(stacks)]
    at_most_k = all(has_holes([g**layer for layer in range(4)], k) == (g > k) for k in (2, 3, 4) for g in range(1, 7))
    depths = [depth_needed(1000, 3, growth=growth) for growth in (1, 2, 3)]
    rule = sufficient and exact and at_most_k
    value = Text(
        zh=f"k = {k}，d = 1 … {block[-1].dilation}：感受野 {fields[-1]}；叠 {copies} 组是 {together}；"
        f"k = 3 达到 1000 步：不膨胀 {depths[0]} 层，每层翻倍 {depths[1]} 层，每层乘 3 则 {depths[2]} 层。"
        f"{whole[1]} 个随机的膨胀序列，{whole[0]} 个没有空洞，"
        + ("正是从小到大排好后，每个膨胀都不超过前面各层感受野的那些" if rule else "与更准确的说法对不上"),
        en=f"k = {k}, d = 1 … {block[-1].dilation}: a field of {fields[-1]}; {copies} such blocks: {together}; k = 3 reaches "
        f"1000 steps with {depths[0]} layers without dilation, {depths[1]} if it doubles, {depths[2]} if it grows by a factor of 3 "
        f"a layer. Of {whole[1]} random lists of dilations {whole[0]} have no holes, "
        + ("exactly those that, sorted, never exceed the field of the ones before" if rule else "which does not fit"),
    )
    ratios = [after / before for before, after in zip(fields, fields[1:])]
    exponential = min(ratios) > 1.5 and not has_holes([layer.dilation for layer in block], k)
    adds = copies > 1 and together - 1 == copies * (fields[-1] - 1) and rule
    return Result(value, held=exponential, failed=adds)


CLAIMS = (
    Claim(
        11,
        common=Text(
            zh="卷积要看到距离 |i−j|，得叠 |i−j|/(k−1) 层：k = 3 看 1000 步，大约 500 层。",
            en="To see a distance of |i−j| takes |i−j|/(k−1) layers of convolution: about 500 for 1000 steps with k = 3.",
        ),
        correct=Text(
            zh="商要进成整数，而且这是因果卷积的公式；居中的卷积两边平分，大约要多一倍。步幅、膨胀和池化都会改变它。",
            en="Rounded up, and for causal kernels; a centred one reads half to either side and needs about twice as many. Stride, "
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
            zh="只在膨胀逐层成倍增长的一组之内：R = 1 + Σ(k_l−1)d_l∏s_m，m < l。重复的组是相加。每层的膨胀不超过下面各层的感受野，"
            "就不会漏掉输入；从 1 起每层乘同一个倍数，这个界限就是 k 倍。",
            en="Only within a block whose dilation grows by a factor with each layer: R = 1 + Σ(k_l−1)d_l∏s_m, m < l. Repeated blocks "
            "add. No input is missed where each dilation is at most the field of the layers below; for growth from 1 by one "
            "factor, that limit is a factor of k.",
        ),
        verdict=Verdict.QUALIFIED,
        sources=(OORD,),
        page="convolution",
        section=Text(zh="每层翻倍", en="Doubling with each layer"),
        check=dilated_blocks,
    ),
)
