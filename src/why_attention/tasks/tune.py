"""Search for the learning rates that the experiments train with: `python -m why_attention.tasks.tune` (make tune)."""

from why_attention.tasks import recall, translation

for task in (recall, translation):
    task.RATES.perform()
