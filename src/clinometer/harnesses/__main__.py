"""``python -m clinometer.harnesses NAME`` prints where the files of a harness are."""

import argparse
from pathlib import Path

FILES = {"lm_eval": "lm_eval", "promptfoo": "promptfoo/functions.py"}

parser = argparse.ArgumentParser(prog="python -m clinometer.harnesses")
parser.add_argument("name", choices=FILES)
print(Path(__file__).parent / FILES[parser.parse_args().name])
