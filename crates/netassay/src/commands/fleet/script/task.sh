#!/bin/sh
set -eu

dir=${FLEET_DIR:-/pairs}

line=$(sed -n "$((JOB_COMPLETION_INDEX + 1))p" "${0%/*}/tasks")
task=${line%% *}
[ -n "$task" ] || { echo "there is no task $JOB_COMPLETION_INDEX" >&2; exit 2; }
mkdir -p "$dir"

# Its hosts may not have started yet.
if [ -n "${KUBERNETES_SERVICE_HOST:-}" ]; then
  for pod in ${line#"$task"}; do
    kubectl wait --for=condition=Ready --timeout=10m "pod/$pod"
  done
fi

@run@
