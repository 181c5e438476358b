#!/bin/sh
#SBATCH --job-name=dpgraph
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=64G
# One worker a node, scheduler and client on the first: sbatch slurm.sh FOLDER VERTICES
# FOLDER lies on a file system that all nodes see. NOT TESTED: there was no SLURM where this was written.
set -eu
here=$SLURM_SUBMIT_DIR # submit from the folder of this file
export DASK_CONFIG="$here/dask.yaml"
file="$SLURM_SUBMIT_DIR/scheduler-$SLURM_JOB_ID.json"

dask scheduler --scheduler-file "$file" & scheduler=$!
srun dask worker --scheduler-file "$file" --nthreads 4 --memory-limit 56GB --local-directory "${TMPDIR:-/tmp}" & workers=$!
trap 'kill $workers; wait $workers; kill $scheduler; wait; rm -f "$file"' EXIT
while ! [ -s "$file" ]; do sleep 1; done
address=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$file")
python "$here/release.py" "$address" "$1" "$2"
