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
# shellcheck source=tests/rdma/jobs.sh
. ./jobs.sh
verbs=(-x KEEL_TRANSPORT=verbs)
on=(./on_device) # the nodes have a device each, and what goes between them goes over the wire

# hello_node_killed: the ranks of a node come back on the other one, whose device they take
hello_node_killed()
{
    job 0 '^rank 3, life 1: 524288$' "${verbs[@]}" -x KEEL_GROUP_SIZE=2 --map cyclic --kill-node 1@0.4 ./on_device ./hello_keel &&
        [ "$(grep -c ': 524288$' out)" -eq 4 ]
}

# when_met COMMAND...: a moment after all ranks have met, beside the job
when_met()
{
    while ! grep -qs 'all ranks have met' out; do
        sleep 0.05
    done
    "$@"
}

# lose_packets SECONDS: what goes from the first device to the other is lost, without a word
lose_packets()
{
    ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:77 dev veth0 nud permanent
    sleep "$1"
    ip neigh del 10.0.0.2 dev veth0
}

# link_lost SECONDS unbroken|broken: for shorter than the device tries again nobody notices; for longer connections break, and who is not
# heard any more is killed and comes back
link_lost()
{
    local status

    rm -f out
    when_met lose_packets "$1" &
    # ranks of a node are in groups of their own: both may be killed before the first is back
    job 0 '^rank 3, life [0-9]: 524288$' "${verbs[@]}" -x KEEL_GROUP_SIZE=2 --map cyclic -x KEEL_LOG_LEVEL=info -x KEEL_HEARTBEAT_TIMEOUT=3s \
        ./on_device ./hello_keel
    status=$?
    wait
    [ $status -eq 0 ] && [ "$(grep -c ': 524288$' out)" -eq 4 ] || return 1
    # the ends of processes are no broken connections
    if [ "$2" = unbroken ]; then
        ! grep -qE 'died: signal|: transport retry counter exceeded' out
    else
        grep -qE ': transport retry counter exceeded' out && grep -q 'killed: rank' out
    fi
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
verbs_cases
one verbs_node_lost hello_node_killed
one verbs_link_short link_lost 1 unbroken
one verbs_link_long link_lost 9 broken
one verbs_other_transport job 1 'rank [0-9] has KEEL_TRANSPORT=(verbs|ucp), and this one has (verbs|ucp): it has to be the same for all ranks' \
    "${verbs[@]}" /bin/bash -c '[ "$PMIX_RANK" != 3 ] || export KEEL_TRANSPORT=ucp; exec ./on_device ./hello_keel'
one verbs_no_permission without_permission
one verbs_no_such_device job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe7: no such device; .*: rxe0 rxe1$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe7 ./hello_keel
one verbs_little_memory job 1 'the limit on locked memory is too low: it is 1000000 bytes \(ulimit -l\), and connections to the other 3 ranks take [0-9]+' \
    "${verbs[@]}" /usr/bin/setpriv --bounding-set=-ipc_lock /usr/bin/prlimit --memlock=1000000:1000000 ./hello_keel
ip link set veth0 down
one verbs_port_down job 1 'KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=rxe0: no port is active; .*: rxe0 rxe1$' "${verbs[@]}" -x KEEL_VERBS_DEVICE=rxe0 ./hello_keel
echo "rdma: $kills kills"
[ $kills -ge 11 ] || { echo "rdma: of 11 that are sure, the first of the four timed ones among them"; failed=1; }
exit $failed
