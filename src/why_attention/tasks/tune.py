"""Search for the learning rates that the experiments train with: `python -m why_attention.tasks.tune` (make tune)."""

from why_attention.tasks import missing_parts, recall, translation

for task in (missing_parts, recall, translation):
    task.RATES.perform()
