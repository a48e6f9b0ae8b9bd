#!/bin/sh
# @title@
#
#   sh SCRIPT   submits the tasks, each to the nodes of its pair
#
@facts@
#SBATCH --job-name=netassay
#SBATCH --nodes=2
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
set -eu

# On a file system that all nodes share.
dir=${FLEET_DIR:-@dir@}

# Each task with its nodes.
tasks() {
  cat <<'END OF TASKS'
@tasks@
END OF TASKS
}

@files@

if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  [ -f "$0" ] || { echo "save this script in a file, and start that" >&2; exit 2; }
  tasks | {
    number=0 failed=0
    while read -r task nodes; do
      number=$((number + 1))
      sbatch --array="$number" --nodelist="$nodes" --output="$dir/$task.log" "$0" || {
        echo "task $task was not submitted" >&2
        failed=1
      }
    done
    exit "$failed"
  }
  exit
fi

task=$(tasks | sed -n "${SLURM_ARRAY_TASK_ID}s/ .*//p")
[ -n "$task" ] || { echo "there is no task $SLURM_ARRAY_TASK_ID" >&2; exit 2; }

@run@
