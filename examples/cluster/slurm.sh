#!/bin/sh
#SBATCH --job-name=dpgraph
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=64G
# One worker a node, scheduler and client on the first: sbatch slurm.sh FOLDER VERTICES
# FOLDER lies on a file system that all nodes see. Options of sbatch come before the name of this file.
set -eu
here=$SLURM_SUBMIT_DIR # submit from the folder of this file
export DASK_CONFIG="$here/dask.yaml"
file="$SLURM_SUBMIT_DIR/scheduler-$SLURM_JOB_ID.json"

dask scheduler --scheduler-file "$file" & scheduler=$!
srun dask worker --scheduler-file "$file" --nthreads "${SLURM_CPUS_PER_TASK:-4}" --memory-limit "${WORKER_MEMORY:-56GB}" --local-directory "${TMPDIR:-/tmp}" & workers=$!
trap 'kill $workers; wait $workers || true; kill $scheduler; wait; rm -f "$file"' EXIT # workers that are told to end report a failure
while ! [ -s "$file" ]; do kill -0 $scheduler; sleep 1; done
address=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$file")
python "$here/release.py" "$address" "$1" "$2"
