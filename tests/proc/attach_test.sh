#!/bin/bash
# Runtimes without PMIx and keelrun, in an environment that is empty but for Keel's settings and a PMIx that aborts:
# attach_test.sh BUILD one_node|two_nodes|node_each|served|cxx|mode|own|left_host [SEEDS|MODE|LANE]
set -u

# shellcheck source=tests/lib/outcomes.sh
. "$(dirname "$0")/../lib/outcomes.sh"
build=$1 case=$2
launch=$build/contrib/examples/attach_launch program=$build/contrib/examples/attach seeds=2 settings=() nodes=1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "attach: $case: $*"
    tail -n 40 "$scratch/out"
    exit 1
}

# alone COMMAND...: without PMIx. A job that hangs is ended with all that it started. Without UCX's VFS, as some programs fork
# their ranks: a thread of the VFS may hold a lock of UCX then
alone()
{
    timeout -k 5 240 env -i UCX_VFS_ENABLE=n LD_PRELOAD="$build/tests/proc/libattach_no_pmix.so" KEEL_OPLOG_SIZE=4m KEEL_GETLOG_SIZE=1m \
        ${settings[@]+"${settings[@]}"} "$@" >"$scratch/out" 2>&1
}

if [ "$case" = mode ]; then
    mode=$3
    [ "$mode" != sink ] || settings=(KEEL_LOG_LEVEL=info)
    [ "$mode" != dedicated ] || settings=(KEEL_PARITY=dedicated KEEL_GROUP_SIZE=3)
    # without a device the table's transport alone can serve
    [ "$mode" != suspect ] || settings=(KEEL_TRANSPORT=verbs KEEL_HEARTBEAT_TIMEOUT=1s)
    alone "$build/tests/proc/attach_modes" "$mode" || fail "mode $mode ended with $?"
    grep -qx "attach_modes: $mode: right" "$scratch/out" || fail "mode $mode is not right"
    case $mode in
    fails) grep -q "error: keel_init_attached: the runtime's exchange() returned: " "$scratch/out" || fail "no callback is named" ;;
    refused) grep -q ': secret is too short, at least 16 bytes are needed$' "$scratch/out" || fail "no bound is named" ;;
    esac
    [ "$mode" != sink ] || ! grep -q '^keel' "$scratch/out" || fail "a message went past the runtime"
    exit 0
fi
if [ "$case" = own ]; then
    mode=${3%_served} settings=(UCX_TLS=tcp)
    [ "$mode" = "$3" ] || settings+=(KEEL_LANES=served)
    alone "$build/tests/proc/attach_own" "$mode" || fail "$3 ended with $?"
    grep -qx "attach_own: $mode: right" "$scratch/out" || fail "$3 is not right"
    exit 0
fi
if [ "$case" = left_host ]; then
    settings=(KEEL_LANES="$3")
    alone "$build/tests/proc/left_host" attached || fail "$3 ended with $?"
    grep -qx "left_host: attached: right" "$scratch/out" || fail "$3 is not right"
    exit 0
fi
case $case in
two_nodes) nodes=2 ;;
node_each) nodes=4 ;;
served) settings=(KEEL_LANES=served) ;;
cxx)
    command -v c++ >/dev/null || exit 77
    program=$scratch/attach sources=$(cd "${0%/*}/../.." && pwd)
    # shellcheck disable=SC2046
    c++ -Wall -Werror -x c++ -o "$program" "$sources/contrib/examples/attach.c" -I"$sources/include" -I"$build/include" \
        -L"$build/src" -Wl,-rpath,"$build/src" -lkeel $(pkg-config --cflags --libs ucx) >"$scratch/out" 2>&1 ||
        fail "the example is not C++"
    ;;
esac
seeds=${3:-$seeds}
for ((seed = 1; seed <= seeds; seed++)); do
    alone "$launch" -n 4 -N $nodes -k 3 -s "$seed" "$program" || fail "seed $seed ended with $?"
    [ "$(grep -c '^rank [0-3], life [0-3]: right, own messages: [0-9]* sent, [0-9]* received$' "$scratch/out")" -eq 4 ] ||
        fail "seed $seed: not all ranks are right"
    [ "$(grep -c '^attach_launch: kills rank' "$scratch/out")" -eq 3 ] || fail "seed $seed: three ranks were to be killed"
    [ "$(grep -c '^keel: 3 deaths, [0-3] recovered locally, ' "$scratch/out")" -eq 1 ] || fail "seed $seed: three deaths were not told"
    ! grep '^keel: ' "$scratch/out" | grep -v -e "$outcome_local" -e "$outcome_rollback" -e "$outcome_sums" || fail "seed $seed: another line"
done
