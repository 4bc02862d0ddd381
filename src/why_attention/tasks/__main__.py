"""Train everything that the pages draw, with a progress bar: `python -m why_attention.tasks` (make experiments)."""

from why_attention.tasks import induction, missing_parts, recall, translation

experiments = (task.EXPERIMENT for task in (induction, missing_parts, recall, translation))
for experiment in (*experiments, recall.HELD_OUT):
    experiment.perform()
