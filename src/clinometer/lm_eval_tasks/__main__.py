"""``python -m clinometer.lm_eval_tasks`` prints the folder of the tasks."""

from pathlib import Path

print(Path(__file__).parent)
