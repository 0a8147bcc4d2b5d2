#!/bin/sh
#SBATCH --job-name=clinometer
#SBATCH --array=0-99%20
#SBATCH --gpus=1
#SBATCH --time=04:00:00
# One task answers one shard:  sbatch slurm.sh RESULTS MODEL
# A task that is started again answers its shard again from the beginning, unless it had ended.
set -eu
results=$1 model=$2
shard=$(printf '%05d' "$SLURM_ARRAY_TASK_ID")
for requests in "$results"/shards/*/*/"$shard".jsonl; do
  answers=${requests%.jsonl}.answers.jsonl
  if [ -e "$requests" ] && [ ! -e "$answers" ]; then
    vllm run-batch --input-file "$requests" --output-file "$answers.part" --model "$model"
    mv "$answers.part" "$answers"
  fi
done
