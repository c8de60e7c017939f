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
# shellcheck source=tests/rdma/devices.sh
. ./devices.sh

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

# by_the_device_that PATTERN ARGUMENTS...: a job over verbs in which puts, and reads of windows or images, are the device's own
by_the_device_that()
{
    local pattern=$1
    shift

    job 0 "$pattern" "${verbs[@]}" -x KEEL_LOG_LEVEL=info "$@" &&
        [ "$(grep -cE ' info: rxe[01]:1: [1-9][0-9]* puts of [1-9][0-9]* bytes by the device, [1-9][0-9]* gets of [1-9][0-9]*;' out)" -eq 4 ]
}

by_the_device()
{
    by_the_device_that 'verification PASSED' "$@"
}

# reads COUNT ARGUMENTS...: gets and puts whose answers are right on so many ranks, all by the device between nodes
reads()
{
    local count=$1
    shift

    by_the_device_that 'rank 3: all right' ./on_device ./one_sided -n 12 --ckpt-every 5 "$@" && [ "$(grep -c ': all right$' out)" -eq "$count" ]
}

# with the target's process stopped puts and gets complete, up to the room granted for records; then it is said what they wait for
stopped_target()
{
    job 0 '^rank 0: [0-9]+ more when it goes on$' "${verbs[@]}" -x KEEL_LOG_LEVEL=info -x KEEL_HEARTBEAT_TIMEOUT=0 ./on_device \
        ./one_sided -n 2 --stopped &&
        awk '/puts and a flush to a process that is stopped/ { put = NR } /gets from it/ { got = NR } /more when it goes on/ { more = NR }
            /a get waits for rank 3: the room that was granted there for records of gets is used up/ { said = NR }
            END { exit !(put && got > put && said > got && more > said) }' out
}

# rounds ARGUMENTS...: of rank 0, posts and completions; and packets that its node sent
rounds()
{
    local before after

    before=$(cat /sys/class/net/veth0/statistics/tx_packets)
    job 0 '^rank 0: all right$' "${verbs[@]}" -x KEEL_LOG_LEVEL=info -x KEEL_GETLOG_SIZE=16m ./on_device ./one_sided -n 0 "$@" || return 1
    after=$(cat /sys/class/net/veth0/statistics/tx_packets)
    sed -nE "s/^keel 0\.0 info: rxe0:1: .* with requests ([0-9]+) posts, ([0-9]+) completions$/\1 \2 $((after - before))/p" out
}

# counted_of WHAT POSTS COMPLETIONS PACKETS ARGUMENTS...: at most so many, the last for 100 times 64, for each 64 and a flush
counted_of()
{
    local what=$1 few many
    local -a limits=("$2" "$3" "$4")
    shift 4

    few=$(rounds --rounds 16 "$@") && many=$(rounds --rounds 80 "$@") && [ -n "$few" ] && [ -n "$many" ] || return 1
    # the two jobs differ by 64 rounds, and by a few messages of their beginnings and ends
    awk -v few="$few" -v many="$many" -v limits="${limits[*]}" -v what="$what" 'BEGIN {
        split(few, a); split(many, b); split(limits, l)
        for (i = 1; i <= 3; i++) { d[i] = (b[i] - a[i]) / 64 }
        printf "rdma: 64 %s and a flush: %.2f posts, %.2f completions, %.2f packets\n", what, d[1], d[2], d[3]
        exit !(d[1] < l[1] + 0.5 && d[2] < l[2] + 0.5 && d[3] < l[3] / 100 + 0.5)
    }'
}

counted()
{
    counted_of "puts of 8 bytes" 4 2 6720 && counted_of "gets of 8 bytes" 8 8 8320 --gets
}

make_devices || { echo "rdma: no devices could be made"; exit 1; }
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
# the nodes have a device each, and what goes between them goes over the wire
one verbs_hello job 0 '^rank 3, life 0: 524288$' "${verbs[@]}" ./on_device ./hello_keel
one verbs_stencil by_the_device -x KEEL_LANES=served ./on_device ./stencil -s 64x64 -n 40 --ckpt-every 5 --die 3@18.1
one verbs_hello_killed hello_killed 2@0 "${verbs[@]}" ./on_device
one verbs_reader_killed reads 4 --die 3@9.1
one verbs_target_killed reads 4 --die 0@8.2
one verbs_stopped stopped_target
one verbs_counts counted
one verbs_no_such_device job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe7: no such device; .*: rxe0 rxe1$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe7 ./hello_keel
one verbs_little_memory job 1 'the limit on locked memory is too low: it is 1000000 bytes \(ulimit -l\), and connections to the other 3 ranks take [0-9]+' \
    "${verbs[@]}" /usr/bin/setpriv --bounding-set=-ipc_lock /usr/bin/prlimit --memlock=1000000:1000000 ./hello_keel
ip link set veth0 down
one verbs_port_down job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe0: no port is active; .*: rxe0 rxe1$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe0 ./hello_keel
echo "rdma: $kills kills"
[ $kills -ge 9 ] || { echo "rdma: of 9 that are sure, the first of the four timed ones among them"; failed=1; }
exit $failed
