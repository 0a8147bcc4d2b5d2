"""Tasks of EleutherAI's lm-evaluation-harness, in the folder of this package.

``lm_eval --include_path "$(python -m clinometer.lm_eval_tasks)" --tasks clinometer_twins``.
"""
