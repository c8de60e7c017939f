#!/bin/bash
# What Keel does under a launcher that is none of its own: launchers.sh DIRECTORY-OF-THE-BUILD mpirun|prterun|srun [ROUNDS]. For a
# person who has PRRTE, of which Debian has no package, or a cluster of Slurm's with two nodes, and for the table in contrib/doc/launchers.md. It
# prints a line a case: how many of the rounds had the right result, how many ended with another status than 0, how many hung.
# Under mpirun and prterun hosts are names only; Slurm picks nodes of its own.
set -u

build=$1 launcher=$2 rounds=${3:-10}
# shellcheck source=tests/lib/outcomes.sh
. "$(dirname "$0")/../lib/outcomes.sh"
stencil=$build/perf/kernels/stencil moments=$build/tests/proc/moments
command -v "$launcher" >/dev/null || { echo "no $launcher on this machine"; exit 77; }

case $launcher in
mpirun) # Open MPI's
    options=(--mca plm_rsh_agent '' --oversubscribe --enable-recovery)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    ;;
prterun)
    options=(--prtemca plm_ssh_agent '' --map-by :oversubscribe --runtime-options "recoverable,notifyerrors")
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    ;;
srun) # it starts what needs no name, and hands all of the environment on
    options=(--mpi=pmix --overcommit)
    ;;
*)
    echo "mpirun, prterun or srun, not $launcher"
    exit 2
    ;;
esac

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
# what the launcher calls to start a daemon: options, the host, the command
cat >"$scratch/agent" <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec unshare --uts bash -c "hostname $host; $*"
END
chmod +x "$scratch/agent"
[ "$launcher" = srun ] || options[2]=$scratch/agent
export KEEL_HEARTBEAT_TIMEOUT=1s KEEL_OPLOG_SIZE=8m KEEL_GETLOG_SIZE=4m

# started HOSTS PROCESSES PROGRAM ARGUMENTS...: by the launcher, on these hosts, or on as many
started()
{
    local hosts=$1 processes=$2 nodes
    shift 2

    if [ "$launcher" = srun ]; then
        nodes=${hosts//[^,]/}
        timeout -k 1 60 srun "${options[@]}" -N $((${#nodes} + 1)) -n "$processes" "$@"
    else
        # shellcheck disable=SC2016 # the inner shell expands
        timeout -k 1 60 unshare --uts bash -c 'hostname "$0" && exec "$@"' "${hosts%%:*}" "$launcher" "${options[@]}" "${pass[@]}" \
            -host "$hosts" -n "$processes" "$@"
    fi
}

is_right() # PROGRAM: moments says something only when it is not
{
    [ "${options[*]}" != --overcommit ] || ! grep -q 'PMIx.*use .*srun --mpi=pmix' "$scratch/err" || return 0
    grep -q 'verification PASSED' "$scratch/out" ||
        { [ "$1" = "$moments" ] && ! grep -v -e "$outcome_local" -e "$outcome_rollback" -e "$outcome_sums" "$scratch/err" | grep -q '^moments:\|^keel: '; }
}

# row NAME HOSTS PROCESSES SETTING PROGRAM ARGUMENTS...
row()
{
    local name=$1 hosts=$2 processes=$3 setting=$4 status right=0 other=0 hung=0 round begun
    shift 4

    for ((round = 0; round < rounds; round++)); do
        begun=$SECONDS
        export "${setting?}"
        started "$hosts" "$processes" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
        status=$?
        [ $SECONDS -lt $((begun + 60)) ] || hung=$((hung + 1))
        [ $status -eq 0 ] || other=$((other + 1))
        ! is_right "$1" || right=$((right + 1))
    done
    unset "${setting%%=*}"
    printf '%-46s %3d runs: %3d right, %3d with another status, %3d hung\n' "$name" "$rounds" $right $other $hung
}

pass=()
for variable in "${!KEEL_@}"; do
    pass+=(-x "$variable")
done
sweeps=(-s 64x64 -n 600 --ckpt-every 20) fatal=("${sweeps[@]}") death=@300.1
if [ "$launcher" = srun ]; then # it ends the job a second after a death, where it is not told to wait: what goes on has to last longer
    fatal=(-s 256x256 -n 30000 --ckpt-every 200) death=@2000.1
fi
row 'one node, no death' a:8 4 KEEL_SPARES=0 "$stencil" "${sweeps[@]}"
row 'one node, a spare takes a rank' a:8 5 KEEL_SPARES=1 "$stencil" "${fatal[@]}" --die 2$death
row 'one node, a spare takes rank 0' a:8 5 KEEL_SPARES=1 "$stencil" "${fatal[@]}" --die 0$death
if [ "$launcher" != srun ]; then # which has no PMIx_Spawn
    row 'one node, a replacement is spawned' a:8 4 KEEL_SPAWN=2 "$stencil" "${fatal[@]}" --die 2$death
    row 'one node, two of one rank are spawned' a:8 4 KEEL_SPAWN=3 "$moments" lives 1.0@8,1.1@16
    row 'a full allocation, a replacement is spawned' a:4 4 KEEL_SPAWN=2 "$stencil" "${fatal[@]}" --die 2$death
fi
row 'two nodes, no death' a:2,b:2 4 KEEL_SPARES=0 "$stencil" "${sweeps[@]}"
row 'no spare is left' a:8 4 KEEL_SPARES=0 "$stencil" "${fatal[@]}" --die 2$death
if [ "$launcher" = srun ]; then
    options=(--overcommit)
    row 'without --mpi=pmix, which is refused' a 4 KEEL_SPARES=0 "$stencil" "${sweeps[@]}"
fi
