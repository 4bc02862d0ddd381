"""What the stored results of training say (tasks/): medians over the seeds."""

from statistics import median

from why_attention.tasks import induction, recall

__all__ = ["recalled", "longest", "induction_head"]


def recalled(model: str, T: int) -> float:
    """Return the accuracy of a model of tasks/recall.py, trained on sequences of T tokens."""
    return median(run.measured["accuracy"] for run in runs(model, T))


def longest(model: str) -> int:
    """Return the largest T at which a model of tasks/recall.py has learned its task, 0 where there is none."""
    trained = [T for T in recall.LENGTHS if all("accuracy" in run.measured for run in runs(model, T))]
    return max((T for T in trained if recalled(model, T) >= recall.LEARNED), default=0)


def runs(model: str, T: int) -> list:
    found = [run for run in recall.EXPERIMENT.results() if (run.settings["model"], run.settings["T"]) == (model, T)]
    if not found:
        raise ValueError(f"model {model!r} and T={T} are none of {list(recall.MODELS)} and {recall.LENGTHS}")
    return found


def induction_head() -> tuple[float, float, float]:
    """Return the highest induction score in layer 2 (tasks/induction.py, seed 0), and accuracy with and without that head."""
    (run,) = (r.measured for r in induction.EXPERIMENT.results() if r.settings == {"layers": 2, "seed": 0})
    score, head = max((score, head) for head, score in enumerate(run["induction"][1]))
    return score, run["accuracy"], run["ablated"][1][head]
