#!/bin/bash
# Runs in the guest (tests/rdma/guest), beside the programs: the served lane over Soft-RoCE's reliable connections, by UCX and by
# Keel's own transport, jobs with a SIGKILL each, and settings that reach nobody. Answers are checked, times are not: the machine is emulated.
set -u
cd "$(dirname "$0")" || exit 1
export LD_LIBRARY_PATH=$PWD
export KEEL_TLS_SERVED=rc_verbs,ud_verbs UCX_NET_DEVICES=rxe0:1
export UCX_UD_VERBS_ETH_DGID_CHECK=n # Soft-RoCE's datagrams come without the address that is checked
export KEEL_HEARTBEAT_TIMEOUT=60s KEEL_OPLOG_SIZE=8m KEEL_GETLOG_SIZE=1m
kills=0 failed=0

# make_device: rxe0 on one end of a pair of Ethernet devices
make_device()
{
    local tries

    ip link set lo up && ip link add veth0 type veth peer name veth1 && ip addr add 10.0.0.1/24 dev veth0 &&
        ip link set veth0 up && ip link set veth1 up && rdma link add rxe0 type rxe netdev veth0 || return 1
    for ((tries = 0; tries < 600; tries++)); do
        ! grep -qs ffff:0a00:0001 /sys/class/infiniband/rxe0/ports/1/gids/1 || return 0
        sleep 0.1
    done
    return 1
}

# job STATUS PATTERN KEELRUN'S ARGUMENTS...: ends with that status, with a line that matches; without any of an assertion
job()
{
    local expected=$1 pattern=$2 status
    shift 2

    ./keelrun -n 4 --nodes 2 -v "$@" >out 2>&1 </dev/null
    status=$?
    kills=$((kills + $(grep -cE '^keelrun: .* died: signal 9' out)))
    [ $status -eq "$expected" ] && grep -qE -- "$pattern" out && ! grep -qE 'Assertion|died: signal ([^9]|9.)' out
}

# one ITS-NAME COMMAND...
one()
{
    local name=$1 begin=$SECONDS
    shift

    if "$@"; then
        echo "rdma: $name: ok ($((SECONDS - begin)) s)"
    else
        echo "rdma: $name: failed"
        cat out
        failed=1
    fi
}

# hello_killed RANK@TIME KEELRUN'S ARGUMENTS...: rank 2 to 0 add up the same as without a death; seconds after all have met: they still shake hands at first
hello_killed()
{
    local kill=$1
    shift

    job 0 '^rank 0, life [01]: 524288$' --kill "$kill" "$@" ./hello_keel && [ "$(grep -c ': 524288$' out)" -eq 4 ]
}

# by_the_device ARGUMENTS...: a job over verbs in which puts, and reads of images, are the device's own
by_the_device()
{
    job 0 'verification PASSED' "${verbs[@]}" -x KEEL_LOG_LEVEL=info "$@" &&
        [ "$(grep -cE ' info: rxe0:1: [1-9][0-9]* puts of [1-9][0-9]* bytes by the device, [1-9][0-9]* gets of [1-9][0-9]*;' out)" -eq 4 ]
}

make_device || { echo "rdma: no device could be made"; exit 1; }
one hello job 0 '^rank 3, life 0: 524288$' ./hello_keel
# of the default 4,095 buffers each rank writes 64 MiB, which takes long here
export UCX_RC_VERBS_RX_QUEUE_LEN=256 UCX_UD_VERBS_RX_QUEUE_LEN=256
one stencil job 0 'verification PASSED' ./stencil -s 64x64 -n 40 --ckpt-every 5 --die 3@18.1
one stencil_served job 0 'verification PASSED' -x KEEL_LANES=served ./stencil -s 64x64 -n 40 --ckpt-every 5 --atomics --die 0@17.1
one locks job 0 'verification PASSED' ./sections -n 60 --ckpt-every 20 --die 3@33.1
one waits job 0 'verification PASSED' ./waits -n 60 --ckpt-every 20 --die 3@33.2
for kill in 2@0 0@0.2 3@0.5 1@1; do
    one "hello_killed_$kill" hello_killed $kill
done
one no_such_device job 1 'KEEL_TLS_SERVED=rc_verbs,ud_verbs, .*UCX_NET_DEVICES=rxe7:1.*: No such device; .* rc_verbs' -x UCX_NET_DEVICES=rxe7:1 ./hello_keel
one no_such_transport job 1 'KEEL_TLS_SERVED=rc_mlx5.*: No such device; .* rc_verbs' -x KEEL_TLS_SERVED=rc_mlx5 ./hello_keel
# datagrams are checked for an address that they do not have, and none arrives: no connection comes about
one nobody_is_reached job 1 'KEEL_TLS_SERVED=rc_verbs,ud_verbs, .*UCX_NET_DEVICES=rxe0:1.*: no rank has answered in 60 s; .* rc_verbs/rxe0:1 ' \
    -x UCX_UD_VERBS_ETH_DGID_CHECK=y ./hello_keel
verbs=(-x KEEL_TRANSPORT=verbs)
one verbs_hello job 0 '^rank 3, life 0: 524288$' "${verbs[@]}" ./hello_keel
one verbs_stencil by_the_device -x KEEL_LANES=served ./stencil -s 64x64 -n 40 --ckpt-every 5 --die 3@18.1
one verbs_hello_killed hello_killed 2@0 "${verbs[@]}"
one verbs_no_such_device job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe7: no such device; .*: rxe0$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe7 ./hello_keel
one verbs_little_memory job 1 'the limit on locked memory is too low: it is 1000000 bytes \(ulimit -l\), and connections to the other 3 ranks take [0-9]+' \
    "${verbs[@]}" /usr/bin/setpriv --bounding-set=-ipc_lock /usr/bin/prlimit --memlock=1000000:1000000 ./hello_keel
ip link set veth0 down
one verbs_port_down job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe0: no port is active; .*: rxe0$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe0 ./hello_keel
echo "rdma: $kills kills"
[ $kills -ge 7 ] || { echo "rdma: of 7 that are sure, the first of the four timed ones among them"; failed=1; }
exit $failed
