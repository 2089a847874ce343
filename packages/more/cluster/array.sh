#!/bin/sh
#SBATCH --job-name=ipclab
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --output=%x-%A_%a.log
#SBATCH --open-mode=append
# One run on the node of each task: sbatch --array=1-3 packages/more/cluster/array.sh --profile quick
set -eu
node=${SLURMD_NODENAME:-$(hostname -s)}
job=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}
export IPCLAB_DATA="$PWD/nodes/$node"  # its own: a requeued task continues here, and only here
mkdir -p "bundles/$node"
bundle="bundles/$node/$job-${SLURM_ARRAY_TASK_ID:-0}.ipclab"
exec "${IPCLAB:-.venv/bin/ipclab}" measure --label "$node" --bundle "$bundle" "$@"
