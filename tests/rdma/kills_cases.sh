#!/bin/bash
# Runs in the guest (tests/rdma/guest), beside the programs: SIGKILLs at random moments of jobs over Soft-RoCE, by Keel's own transport and by
# UCX; kills_plan.sh, beside it, says how many. Answers, and the memory at the end, are those of a job without a death.
set -u
cd "$(dirname "$0")" || exit 1
export LD_LIBRARY_PATH=$PWD
export KEEL_TLS_SERVED=rc_verbs,ud_verbs UCX_UD_VERBS_ETH_DGID_CHECK=n
export UCX_RC_VERBS_RX_QUEUE_LEN=256 UCX_UD_VERBS_RX_QUEUE_LEN=256 # by default each rank writes 64 MiB, which takes long here
export KEEL_HEARTBEAT_TIMEOUT=60s
rounds=1 runs=5 victims=2 greetings=20 seed=1 transports='verbs ucp' programs='stencil ft cg sections waits'
# shellcheck source=/dev/null
. ./kills_plan.sh
RANDOM=$seed
failed=0 kills=0 deaths=0
# shellcheck source=tests/rdma/devices.sh
. ./devices.sh
# shellcheck source=tests/rdma/jobs.sh
. ./jobs.sh

# as tests/proc/kills.sh expects a build: each program with the device of its node
build()
{
    local program

    mkdir -p build/contrib/keelrun build/perf/kernels build/tests/proc && ln -s "$PWD/keelrun" build/contrib/keelrun/keelrun || return 1
    for program in perf/kernels/stencil perf/kernels/ft perf/kernels/cg tests/proc/sections tests/proc/waits; do
        printf '#!/bin/bash\nexec %s/on_device %s/%s "$@"\n' "$PWD" "$PWD" "${program##*/}" >"build/$program" && chmod 755 "build/$program" || return 1
    done
}

# greeting TRANSPORT: a rank of hello is killed while ranks shake hands; they add up the same, or the job ends and says why. Others that
# abort are counted
greeting()
{
    local victim=$((RANDOM % 4)) moment status end

    printf -v moment '0.%03d' $((RANDOM % 400))
    timeout -k 5 200 ./keelrun -n 4 --nodes 2 -v --timeout 150 --kill "$victim@$moment" -x "KEEL_TRANSPORT=$1" ./on_device ./hello_keel >out 2>&1 </dev/null
    status=$?
    [ "$(grep -cE '^keelrun: .* died: signal 9' out)" -eq 0 ] || kills=$((kills + 1))
    if grep -qE 'Assertion|died: signal ([^9]|9.)' out; then
        end='a survivor aborted'
        [ $status -ne 0 ] || end+=' and came back'
    elif [ $status -eq 0 ] && [ "$(grep -c ': 524288$' out)" -eq 4 ]; then
        end=recovered
    elif [ $status -ne 124 ] && [ $status -ne 137 ] && grep -qE 'nothing is recovered( any more| then)?$' out; then
        end='ended, as it had begun to leave'
    else
        end=failed
        failed=1
    fi
    echo "greeting over $1: kill $victim@$moment: $end (status $status)"
    case $end in failed | a*) sed 's/^/    | /' out ;; esac
}

# random_kills TRANSPORT PROGRAM
random_kills()
{
    echo "== $2 over $1 ($SECONDS s)"
    ./kills.sh --build "$PWD/build" --program "$2" --lane auto --ranks 4 --nodes 2 --runs "$runs" --victims "$victims" --timeout 300 \
        --seed $((seed + round)) -x "KEEL_TRANSPORT=$1" | tee kills_out
    [ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
    deaths=$((deaths + $(sed -nE 's/^ok .* ([0-9]+) deaths.*/\1/p' kills_out | paste -sd+ | sed 's/^$/0/')))
}

random_addresses 2
if ! make_devices || ! build; then
    echo "rdma: no devices could be made"
    exit 1
fi
for ((round = 0; round < rounds; round++)); do
    for program in $programs; do
        for transport in $transports; do
            random_kills "$transport" "$program"
        done
    done
    for ((i = 0; i < greetings; i++)); do
        for transport in $transports; do
            greeting "$transport"
        done
    done
    echo "rdma: $deaths deaths of jobs, and $kills while ranks greeted each other, $SECONDS s"
done
exit $failed
