#!/usr/bin/env bash
# Run a command of Peirce on the nodes of a Slurm job. Not run.
#     sbatch --nodes 4 --cpus-per-task 16 examples/cluster/slurm.sh run list_functions --store s.duckdb
#SBATCH --ntasks-per-node=1
set -euo pipefail
export RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0
RAY_AUTH_TOKEN=$(openssl rand -hex 32)
export RAY_AUTH_TOKEN
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
port=6379
start() {  # start NODE OPTIONS...
    srun --nodes 1 --ntasks 1 --nodelist "$1" ray start --block --num-cpus "$SLURM_CPUS_PER_TASK" \
        --resources '{"sandbox": 1}' "${@:2}" &
    sleep 15
}
start "${nodes[0]}" --head --port "$port" --include-dashboard false
for node in "${nodes[@]:1}"; do
    start "$node" --address "${nodes[0]}:$port"
done
trap 'kill $(jobs -p)' EXIT
RAY_ADDRESS="${nodes[0]}:$port" peirce "$@" --cluster ray
