#!/bin/bash
# contrib/traces tells builds apart: traces_test.sh SIM_GSYNC SIM_PLANTED. A build equals itself, and the sums saved of it; a build
# with a planted defect differs, and so does one that does not run.
set -u

traces=$(cd "$(dirname "$0")" && pwd)/../../../contrib/traces
gsync=$1 planted=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "$1" >&2
    cat "$work/out" >&2
    exit 1
}

# compare STATUS LINE OPTION...: the comparison ends with this status, and its last line matches
compare()
{
    local status=$1 line=$2

    shift 2
    "$traces" "$@" >"$work/out" 2>&1
    [ $? -eq "$status" ] || fail "contrib/traces $* does not end with status $status"
    tail -n 1 "$work/out" | grep -Eqx -e "$line" || fail "contrib/traces $*: the last line is not '$line'"
}

# the simulator with a defect ends with another line
cat >"$work/defect" <<END
#!/bin/sh
"$planted" --plant put_log_record_lost --count "\$@" | sed 's/^put_log_record_lost: noticed in .* of \([0-9]*\) runs$/\1 passed, 0 failed/'
END
printf '#!/bin/sh\nexit 1\n' >"$work/broken"
chmod +x "$work/defect" "$work/broken"

compare 0 '25 runs equal' -n 25 "$gsync" "$gsync"
compare 0 '25 runs saved' -n 25 --save "$work/sums" "$gsync"
compare 0 '25 runs equal' -n 25 "$work/sums" "$gsync"
compare 1 'seed [0-9]+ differs: sim_gsync --seed [0-9]+ --style .* --trace' -n 60 "$planted" "$work/defect"
compare 1 'one of 10 runs from seed 1 on differs: .*' -n 10 "$work/sums" "$work/defect"
compare 2 'traces: .* has no sum of .*' -n 10 -s 5 "$work/sums" "$gsync"
compare 2 'traces: .* did not run 10 programs from seed 1 on with .*' -n 10 "$gsync" "$work/broken"
