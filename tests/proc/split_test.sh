#!/bin/bash
# One case of a network that falls apart where nobody arbitrates: split_test.sh DIRECTORY-OF-THE-BUILD CASE. Open MPI's mpirun
# starts the ranks on two nodes, each with a network namespace and a host name of its own. It talks to its daemons over one
# network, which stays; the ranks talk to each other over another one, which is cut at its switch.
set -u

build=$1 name=$2
stencil=$build/perf/kernels/stencil
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"

skip()
{
    echo "$*: skipped"
    exit 77
}

# in_node NODE COMMAND...
in_node()
{
    local node=$1
    shift
    ip netns exec "keel-$node-$$" "$@"
}

remove_nodes()
{
    local space

    for space in a b switch; do
        ip netns del "keel-$space-$$" 2>/dev/null
    done
    rm -rf "$scratch"
}

# two nodes with two networks: mpirun's, by one cable, and the ranks', by a switch
make_nodes()
{
    local node number=1 tries

    [ "$(id -u)" -eq 0 ] && command -v ip >/dev/null || skip "not root, or no ip"
    command -v mpirun >/dev/null || skip "no mpirun on this machine"
    mpirun --version | grep -q 'Open MPI' || skip "mpirun is not Open MPI's"
    trap remove_nodes EXIT
    for node in a b switch; do
        ip netns add "keel-$node-$$" 2>/dev/null || skip "no network namespaces on this machine"
    done
    ip -n "keel-switch-$$" link add switch type bridge 2>/dev/null || skip "no bridges on this machine"
    ip -n "keel-switch-$$" link set switch up
    ip link add launch netns "keel-a-$$" type veth peer name launch netns "keel-b-$$" || fail "no veth"
    for node in a b; do
        ip link add data netns "keel-$node-$$" type veth peer name "port-$node" netns "keel-switch-$$"
        ip -n "keel-switch-$$" link set "port-$node" master switch
        ip -n "keel-switch-$$" link set "port-$node" up
        ip -n "keel-$node-$$" link set lo up
        ip -n "keel-$node-$$" addr add 10.98.0.$number/24 dev launch
        ip -n "keel-$node-$$" link set launch up
        ip -n "keel-$node-$$" addr add 10.98.1.$number/24 dev data
        ip -n "keel-$node-$$" link set data up
        number=$((number + 1))
    done
    # UCX takes a device that the kernel says is running, which it says some time after it is
    for ((tries = 0; tries < 400; tries++)); do
        [ "$(for node in a b; do ip -n "keel-$node-$$" -brief link show data; done | grep -c ' UP ')" -lt 2 ] || break
        sleep 0.05
    done
    [ $tries -lt 400 ] || fail "the nodes do not reach each other"
    # what mpirun calls to start a daemon: options, the node's name, the command
    cat >"$scratch/agent" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
node=\$1
shift
exec ip netns exec keel-\$node-$$ unshare --uts bash -c "hostname \$node; \$*"
END
    chmod +x "$scratch/agent"
}

# job_start HOSTS RANKS ARGUMENTS...: in the background; sets pid
job_start()
{
    local hosts=$1 ranks=$2 variable passed=()
    shift 2
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export KEEL_HEARTBEAT_TIMEOUT=1s KEEL_OPLOG_SIZE=8m KEEL_GETLOG_SIZE=4m KEEL_VERBOSE=y UCX_NET_DEVICES=data
    for variable in "${!KEEL_@}" "${!UCX_@}"; do
        passed+=(-x "$variable")
    done
    : >"$out"
    # shellcheck disable=SC2016 # the inner shell expands
    in_node a unshare --uts bash -c 'hostname a && exec "$@"' mpirun timeout -k 1 60 mpirun "${passed[@]}" \
        --mca plm_rsh_agent "$scratch/agent" --mca oob_tcp_if_include launch --oversubscribe --enable-recovery \
        -host "$hosts" --map-by node -n "$ranks" "$stencil" -s 64x64 --ckpt-every 20 -v "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
}

# prints the ranks' processes, or with "all" also mpirun's own
job_processes()
{
    local file

    for file in $(own_processes); do
        if [ "${1:-}" = all ] || grep -qs '^stencil' "${file%environ}comm"; then
            basename "${file%/environ}"
        fi
    done
}

# The ranks end by themselves. mpirun, too, but for when ranks of both nodes have failed: then it may wait for ever.
job_end()
{
    local tries signal process

    wait_for 'sweep' "$out"
    for ((tries = 0; tries < 60; tries++)); do
        [ -n "$(job_processes)" ] || break
        sleep 1 # to look is work
    done
    [ $tries -lt 60 ] || fail "ranks hang"
    for signal in 0 TERM KILL; do
        for ((tries = 0; tries < 4; tries++)); do
            [ -n "$(job_processes all)" ] || break 2
            sleep 0.5
        done
        for process in $(job_processes all); do
            kill -$signal "$process" 2>/dev/null
        done
    done
    wait $pid
}

cut()
{
    wait_for 'sweep' "$out"
    ip -n "keel-switch-$$" link set port-b nomaster
}

# rank 1 alone on the other side; a spare on this side takes its place, so the job comes to its end
smaller_side_ends_and_the_larger_goes_on()
{
    local memory

    make_nodes
    job_start a:4 4 -n 1500
    wait $pid
    has "$out" 1 'verification PASSED'
    memory=$(grep '^stencil: memory' "$out")
    export KEEL_SPARES=1
    job_start a:4,b:1 5 -n 1500
    cut
    job_end
    has "$out" 1 'verification PASSED'
    has "$out" 1 "^$memory$"
    has "$err" 1 '^keel 1.0 error: of 4 ranks this one hears 1: it is cut off and ends, the larger part goes on$'
    has "$err" 1 '^stencil: run: cut off from most of the job'
    has "$err" 1 '^keel 0.0 info: .* rank 1 incarnation 1 is there$'
}

# the first of a side ends because it is cut off; who is left of it may end because that one is gone
neither_half_goes_on()
{
    make_nodes
    job_start a:2,b:2 4 -n 20000
    cut
    job_end
    has "$out" 0 'verification'
    grep -q '^keel [02].0 error: of 4 ranks this one hears 2: it is cut off and ends' "$err" || fail "node a goes on"
    grep -q '^keel [13].0 error: of 4 ranks this one hears 2: it is cut off and ends' "$err" || fail "node b goes on"
}

run_case
