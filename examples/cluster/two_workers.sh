#!/bin/sh
# A scheduler and two workers as processes of their own, then a release: sh two_workers.sh FOLDER VERTICES
# Workers have 1 GB each, and keep what they store in files in $SCRATCH (a folder of its own in /tmp by default).
set -eu
here=$(dirname "$0")
export DASK_CONFIG="$here/dask.yaml"
SCRATCH=${SCRATCH:-$(mktemp -d)}
PORT=${PORT:-8786}

dask scheduler --host 127.0.0.1 --port "$PORT" --no-dashboard & scheduler=$!
trap 'kill $workers; wait $workers || true; kill $scheduler; wait' EXIT
workers=""
for _ in 1 2; do
  dask worker "tcp://127.0.0.1:$PORT" --nthreads 1 --memory-limit 1GB --no-dashboard --local-directory "$SCRATCH" &
  workers="$workers $!"
done
python "$here/release.py" "tcp://127.0.0.1:$PORT" "$1" "$2"
