#!/bin/bash
# Runs in the guest (tests/rdma/guest), beside the programs: the served lane over Soft-RoCE's reliable connections, by UCX and by
# Keel's own transport, jobs with a SIGKILL each, and settings that reach nobody. Answers are checked, times are not: the machine is emulated.
set -u
cd "$(dirname "$0")" || exit 1
export LD_LIBRARY_PATH=$PWD
export KEEL_TLS_SERVED=rc_verbs,ud_verbs UCX_NET_DEVICES=rxe0:1
export UCX_UD_VERBS_ETH_DGID_CHECK=n # Soft-RoCE's datagrams come without the address that is checked
export KEEL_HEARTBEAT_TIMEOUT=60s KEEL_OPLOG_SIZE=8m KEEL_GETLOG_SIZE=1m
kills=0 failed=0 begun=0 only=.
# shellcheck source=tests/rdma/devices.sh
. ./devices.sh
# shellcheck source=tests/rdma/jobs.sh
. ./jobs.sh
# shellcheck source=tests/rdma/counts.sh
. ./counts.sh
# shellcheck source=/dev/null
. ./only.sh
verbs=(-x KEEL_TRANSPORT=verbs)
on=(./on_device) # the nodes have a device each, and what goes between them goes over the wire

# hello_node_killed: the ranks of a node come back on the other one, whose device they take
hello_node_killed()
{
    job 0 '^rank 3, life 1: 524288$' "${verbs[@]}" -x KEEL_GROUP_SIZE=2 --map cyclic --kill-node 1@0.4 ./on_device ./hello_keel &&
        [ "$(grep -c ': 524288$' out)" -eq 4 ]
}

# when_met COMMAND...: a moment after all ranks have met, beside the job; not at all if that ends before
when_met()
{
    until grep -qs 'all ranks have met' out; do
        ! grep -qs ' the job ended with status ' out || return
        sleep 0.05
    done
    "$@"
}

# resent: so often the devices had no answer, and sent again
resent()
{
    awk '{ count += $1 } END { print count }' /sys/class/infiniband/rxe?/ports/1/hw_counters/completer_retry_err
}

# lose_packets SECONDS: what goes from the first device to the other is lost, without a word; 0: until some of it was sent again
lose_packets()
{
    local before tries

    before=$(resent)
    ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:77 dev veth0 nud permanent
    [ "$1" -eq 0 ] || sleep "$1"
    for ((tries = 0; tries < 600; tries++)); do
        [ "$(resent)" -le "$before" ] || break
        sleep 0.02
    done
    ip neigh del 10.0.0.2 dev veth0
}

# link_lost SECONDS unbroken|broken HEARTBEAT: where packets get through when they are sent again nobody notices; for longer connections break, and who is not
# heard any more is killed and comes back
link_lost()
{
    local status before

    rm -f out
    before=$(resent)
    when_met lose_packets "$1" &
    # ranks of a node are in groups of their own: both may be killed before the first is back
    job 0 '^rank 3, life [0-9]: 524288$' "${verbs[@]}" -x KEEL_GROUP_SIZE=2 --map cyclic -x KEEL_LOG_LEVEL=info -x "KEEL_HEARTBEAT_TIMEOUT=$3" \
        ./on_device ./hello_keel
    status=$?
    wait
    [ $status -eq 0 ] && [ "$(grep -c ': 524288$' out)" -eq 4 ] && [ "$(resent)" -gt "$before" ] || return 1
    # the ends of processes are no broken connections
    if [ "$2" = unbroken ]; then
        ! grep -qE 'died: signal|: transport retry counter exceeded' out
    else
        grep -qE ': transport retry counter exceeded' out && grep -q 'killed: rank' out
    fi
}

# image_of_stopped ARGUMENTS...: a rank's image is read while the rank's process is stopped
image_of_stopped()
{
    job 0 '^rank 0: of an image of [0-9]+ bytes [0-9]+ were on their way before its process was stopped, and all meanwhile$' -n 2 "$@" -x KEEL_HEARTBEAT_TIMEOUT=0 \
        -x KEEL_LOG_LEVEL=info "${on[@]}" ./one_sided -n 0 --image 4 && [ "$(grep -c ': all right$' out)" -eq 2 ]
}

# image_of_killed ARGUMENTS...: or it is killed meanwhile, comes back, and its image is taken again
image_of_killed()
{
    job 0 '^rank 0: of an image of [0-9]+ bytes [0-9]+ were on their way when its process was killed$' -n 2 "$@" \
        -x KEEL_LOG_LEVEL=info "${on[@]}" ./one_sided -n 0 --image 4 --killed && [ "$(grep -c ': all right$' out)" -eq 2 ] &&
        grep -q 'rank 1 incarnation 0 died: signal 9' out
}

# image_by_gets OF-WHOM: over UCP; each rank read the other's image, twice, in 71 pieces, and sent fewer messages than it read pieces
image_by_gets()
{
    "image_of_$1" && awk '
        / info: rc_verbs,ud_verbs: [0-9]+ gets of [0-9]+ bytes by the device, [0-9]+ requests$/ {
            ranks += ($5 >= 71 && $8 >= 4194304 && $13 < $5)
        }
        END { exit !(ranks == 2) }' out
}

# limited READERS WARNINGS PATTERN ARGUMENTS...: over UCP, with what may be locked by default on many machines and UCX's own settings; at least so many ranks read
# images by the device, and so often it is said that one has no room
limited()
{
    local readers=$1 warnings=$2 pattern=$3
    shift 3

    (
        unset UCX_RC_VERBS_RX_QUEUE_LEN UCX_UD_VERBS_RX_QUEUE_LEN
        job 0 "$pattern" -x KEEL_LOG_LEVEL=info -x KEEL_LANES=served /usr/bin/setpriv --bounding-set=-ipc_lock /usr/bin/prlimit --memlock=8388608:8388608 "$@"
    ) && [ "$(grep -cE ' info: rc_verbs,ud_verbs: [1-9][0-9]* gets of [1-9]' out)" -ge "$readers" ] &&
        [ "$(grep -c ' bytes, of an image or of parity, cannot be locked: of the 8388608 bytes that may be (ulimit -l) half' out)" -eq "$warnings" ]
}

# device_fails: a device announces that it is lost, and completes nothing any more: its node's ranks say so, end at once though nobody looks
# for silent ones, and come back on the other node
device_fails()
{
    local status

    rm -f out has_failed
    when_met touch has_failed &
    job 0 '^rank 3, life 1: 524288$' "${verbs[@]}" -x KEEL_GROUP_SIZE=2 --map cyclic -x KEEL_HEARTBEAT_TIMEOUT=0 -x FAILING_NODE=1 \
        -x "FAILING_FILE=$PWD/has_failed" -x "LD_PRELOAD=$PWD/failing_device.so" ./on_device ./hello_keel
    status=$?
    wait
    [ $status -eq 0 ] && [ "$(grep -c ': 524288$' out)" -eq 4 ] &&
        grep -q 'the RDMA device rxe1:1 has failed while it was used: .*; this process reaches nobody by it any more' out &&
        grep -qE '^keelrun: .*rank [13] incarnation 0 killed: it says that it reaches nobody from its node' out
}

# fail_and_kill RANK: of a node that goes on; no memory is registered on the other from now on
fail_and_kill()
{
    touch has_failed
    kill -9 "$(sed -nE "s/^keelrun: .* rank $1 incarnation 0 started on node 0, pid ([0-9]+)$/\\1/p" out)"
}

# no_memory_left: who comes back asks for connections that processes of the other node have no memory for, though they live: they say so,
# end, and come back on its node. One of them is of its group: there is no image yet, or both would be lost for good. Rank 2, which lives,
# or one of them the other, may have asked for its first connection in between.
no_memory_left()
{
    local status

    rm -f out has_failed
    when_met fail_and_kill 0 &
    job 0 '^rank 3, life 1: 524288$' "${verbs[@]}" -x KEEL_GROUP_SIZE=2 --map cyclic -x KEEL_HEARTBEAT_TIMEOUT=0 -x KEEL_CKPT_INTERVAL=off -x FAILING_NODE=1 \
        -x "FAILING_FILE=$PWD/has_failed" -x FAILING_MEMORY=y -x "LD_PRELOAD=$PWD/failing_device.so" ./on_device ./hello_keel
    status=$?
    wait
    [ $status -eq 0 ] && [ "$(grep -c ': 524288$' out)" -eq 4 ] &&
        grep -q 'rxe1:1: a connection that rank [0-3] asks for cannot be made; this process is of no use any more' out &&
        grep -qE '^keelrun: .*rank [13] incarnation 0 killed: it says that it reaches nobody from its node' out
}

# remove_device: the second one, which its users keep and nobody else gets any more; then a rank of its node is killed
remove_device()
{
    local tries

    rdma link delete rxe1 & # returns when nobody uses it
    for ((tries = 0; tries < 600; tries++)); do
        grep -qs rxe1 /sys/class/infiniband_verbs/uverbs*/ibdev || break
        sleep 0.05
    done
    kill -9 "$(sed -nE 's/^keelrun: .* rank 3 incarnation 0 started on node 1, pid ([0-9]+)$/\1/p' out)"
    wait
}

# device_removed: who comes back on its node finds none, and the job ends
device_removed()
{
    local status

    rm -f out
    when_met remove_device &
    job 3 'KEEL_VERBS_DEVICE=rxe1: no such device; RDMA devices of this host: rxe0$' "${verbs[@]}" ./on_device ./one_sided -n 1000
    status=$?
    wait
    rdma link add rxe1 type rxe netdev veth1 && has_address rxe1 ffff:0a00:0002 && return $status
}

# link_never_back: ports go down for good: it is said, who is not heard is killed, who comes back finds no active port, and the job ends
link_never_back()
{
    local status

    rm -f out
    when_met ip link set veth0 down &
    job 3 'KEEL_VERBS_DEVICE=rxe[01]: no port is active; ' "${verbs[@]}" -x KEEL_HEARTBEAT_TIMEOUT=3s -x KEEL_LOG_LEVEL=info ./on_device ./one_sided -n 1000 &&
        grep -q 'network device rxe[01] port 1: the link went down: a failure may follow' out
    status=$?
    wait
    ip link set veth0 up
    ip route replace 10.0.0.2 dev veth0 table 101 # gone with the link
    return $status
}

# little_memory: what may be locked by default on many machines. Logs are short by themselves, windows are put to and images read by the
# device all the same, and who is killed comes back
little_memory()
{
    by_the_device_that 'verification PASSED' -x KEEL_OPLOG_SIZE=auto -x KEEL_LANES=served /usr/bin/setpriv --bounding-set=-ipc_lock \
        /usr/bin/prlimit --memlock=8388608:8388608 ./on_device ./stencil -s 64x64 -n 24 --ckpt-every 5 --die 1@12.1 &&
        [ "$(grep -c 'may lock, 8192 KiB (ulimit -l), connections leave [1-9][0-9]*: logs take half of that, ' out)" -eq 5 ] &&
        ! grep -qE 'cannot be (locked|registered)|no more memory can be locked' out
}

without_permission()
{
    local status

    chmod 000 /dev/infiniband/uverbs*
    job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe[01]: no permission for /dev/infiniband/uverbs[01]; ' "${verbs[@]}" \
        /usr/bin/setpriv --bounding-set=-dac_override,-dac_read_search ./on_device ./hello_keel
    status=$?
    chmod 666 /dev/infiniband/uverbs*
    return $status
}

# begin_nobody: datagrams are checked for an address that they do not have, none arrives, and no connection comes about, which is said after a
# minute: beside other cases, in a folder of its own
begin_nobody()
{
    mkdir nobody && ln -s "$PWD"/* nobody/ && rm -f nobody/nobody nobody/out || failed=1
    (
        cd nobody && failed=0 || exit 1
        one nobody_is_reached job 1 'KEEL_TLS_SERVED=rc_verbs,ud_verbs, .*UCX_NET_DEVICES=rxe0:1.*: no rank has answered in 60 s; .* rc_verbs/rxe0:1 ' \
            -x UCX_UD_VERBS_ETH_DGID_CHECK=y ./hello_keel
        exit $failed
    ) >nobody_said 2>&1 &
    nobody=$!
}

end_nobody()
{
    wait "$nobody" || failed=1
    cat nobody_said
}

make_devices || { echo "rdma: no devices could be made"; exit 1; }
one hello job 0 '^rank 3, life 0: 524288$' ./hello_keel
# of the default 4,095 buffers each rank writes 64 MiB, which takes long here
export UCX_RC_VERBS_RX_QUEUE_LEN=256 UCX_UD_VERBS_RX_QUEUE_LEN=256
one stencil job 0 'verification PASSED' ./stencil -s 64x64 -n 20 --ckpt-every 5 --die 3@12.1
one stencil_served job 0 'verification PASSED' -x KEEL_LANES=served ./stencil -s 64x64 -n 20 --ckpt-every 5 --atomics --die 0@11.1
one locks job 0 'verification PASSED' ./sections -n 24 --ckpt-every 8 --die 3@13.1
one waits job 0 'verification PASSED' ./waits -n 24 --ckpt-every 8 --die 3@12.2
one ft job 0 'verification PASSED' ./ft -c S --die 1@3.1
one cg job 0 "$zeta" ./cg -c S -n 1 --die 2@14.1
for kill in 2@0 0@0.2 3@0.5 1@1; do
    one "hello_killed_$kill" hello_killed $kill
done
one image_of_stopped image_by_gets stopped
one image_of_killed image_of_killed
one little_memory limited 4 0 'verification PASSED' ./stencil -s 64x64 -n 24 --ckpt-every 5 --die 1@12.1
one image_beyond_limit limited 0 4 'verification PASSED' ./ft -c S
one no_such_device job 1 'KEEL_TLS_SERVED=rc_verbs,ud_verbs, .*UCX_NET_DEVICES=rxe7:1.*: No such device; .* rc_verbs' -x UCX_NET_DEVICES=rxe7:1 ./hello_keel
one no_such_transport job 1 'KEEL_TLS_SERVED=rc_mlx5.*: No such device; .* rc_verbs' -x KEEL_TLS_SERVED=rc_mlx5 ./hello_keel
begin_nobody
verbs_cases
random_addresses 2
verbs_one_sided_cases
random_addresses 0
end_nobody
one verbs_counts counted
one verbs_node_lost hello_node_killed
one verbs_link_short link_lost 0 unbroken 60s
one verbs_link_long link_lost 9 broken 3s
one verbs_image_of_stopped image_of_stopped "${verbs[@]}"
one verbs_device_fails device_fails
one verbs_no_memory_left no_memory_left
one verbs_device_removed device_removed
one verbs_link_never_back link_never_back
one verbs_other_transport job 1 'rank [0-9] has KEEL_TRANSPORT=(verbs|ucp), and this one has (verbs|ucp): it has to be the same for all ranks' \
    "${verbs[@]}" /bin/bash -c '[ "$PMIX_RANK" != 3 ] || export KEEL_TRANSPORT=ucp; exec ./on_device ./hello_keel'
one verbs_no_permission without_permission
one verbs_no_such_device job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe7: no such device; .*: rxe0 rxe1$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe7 ./hello_keel
one verbs_little_memory little_memory
one verbs_too_little_memory job 1 'the limit on locked memory is too low: it is 1000000 bytes \(ulimit -l\), and connections to the other 3 ranks take [0-9]+' \
    "${verbs[@]}" /usr/bin/setpriv --bounding-set=-ipc_lock /usr/bin/prlimit --memlock=1000000:1000000 ./hello_keel
ip link set veth0 down
one verbs_port_down job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe0: no port is active; .*: rxe0 rxe1$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe0 ./hello_keel
echo "rdma: $begun cases, $kills kills, $SECONDS s"
[ "$begun" -gt 0 ] || { echo "rdma: no case matches $only"; failed=1; }
[ $kills -ge 20 ] || [ "$only" != . ] || { echo "rdma: of 20 that are sure, the first of the four timed ones among them"; failed=1; }
exit $failed
