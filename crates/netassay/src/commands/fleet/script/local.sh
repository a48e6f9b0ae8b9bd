#!/bin/sh
# @title@
#
#   sh SCRIPT        runs all tasks, @at_once@ side by side, and shows what came of them
#   sh SCRIPT TASK   runs one of them
#
@facts@
set -eu

dir=${FLEET_DIR:-@dir@}

tasks() {
  cat <<'END OF TASKS'
@tasks@
END OF TASKS
}

@files@

if [ $# -eq 0 ]; then
  [ -f "$0" ] || { echo "save this script in a file, and start that" >&2; exit 2; }
  # The status tells what failed.
  tasks | xargs -n 1 -P @at_once@ sh "$0" || :
  exec "${NETASSAY:-netassay}" fleet status --hosts "$dir/hosts.toml" --campaign @campaign@ "$dir"
fi

task=$1
tasks | grep -qxF -e "$task" || { echo "there is no task $task" >&2; exit 2; }

@run@
