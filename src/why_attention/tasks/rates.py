"""The search for learning rates: each variant is trained at several rates, and has its own best one.

At one common rate, variants may differ only in how well that rate suits them. The search is a separate experiment, run
by `make tune`; the experiments that compare the variants read its results.
"""

from collections.abc import Callable
from statistics import median

from why_attention.tasks.experiment import Experiment, Trained

__all__ = ["RateSearch"]


class RateSearch(Experiment):
    """An experiment over variants, learning rates and seeds; each run measures a ``loss``.

    name: of the experiment that uses the rates.  rates: in ascending order.  train: a function of variant, rate and seed.
    """

    def __init__(
        self,
        name: str,
        variants: list[str],
        rates: list[float],
        seeds: list[int],
        train: Callable[..., Trained],
        **folder,
    ):
        runs = [{"variant": v, "rate": r, "seed": s} for v in variants for r in rates for s in seeds]
        super().__init__(f"{name}-rates", runs, train, command="python -m why_attention.tasks.tune", **folder)
        self.rates = rates

    def losses(self, variant: str) -> dict[float, float]:
        """Return the median loss over the seeds at each rate.  Raises ValueError for an unknown variant."""
        runs = [run for run in self.results() if run.settings["variant"] == variant]
        if not runs:
            known = sorted({run["variant"] for run in self.runs})
            raise ValueError(f"{self.path.name} has no variant {variant!r}: it has {known}")
        return {
            rate: median(run.measured["loss"] for run in runs if run.settings["rate"] == rate) for rate in self.rates
        }

    def best(self, variant: str) -> float:
        """Return the rate of the lowest median loss."""
        losses = self.losses(variant)
        return min(losses, key=lambda rate: losses[rate])
