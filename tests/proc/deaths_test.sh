#!/bin/bash
# What a death costs, as contrib/doc/deaths.md has it cell by cell: deaths_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$build/contrib/keelrun/keelrun
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$here/proc_lib.sh"
page=$here/../../contrib/doc/deaths.md

# cell KIND WHO COST
cell()
{
    local pids=$scratch/pids

    mkdir -p "$pids"
    run 0 -n 4 --nodes 4 --timeout 50 -x KEEL_VERBOSE=y -x KEEL_PARITIES=2 -x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m \
        -x KEEL_LANES="$lanes" "$build/tests/proc/cells" "$1" "$pids" "$2"
    has "$out" 1 "^cells: $1, $2: [12] deaths, [01] rollbacks: right$"
    has "$err" "$(grep -o '[01] rollbacks: right$' "$out" | cut -c1)" "$outcome_rollback"
    has "$err" 1 "^keel: $(grep -o '[12] deaths' "$out" | cut -c1) deaths\\?, "
    check_cost "$3" "$*"
}

# rows TABLE: kind and costs of the page's first or second table
rows()
{
    awk -v table="$1" -F ' *[|] *' '/^\|---/ { tables++ } tables == table && $3 ~ /^`/ { gsub("`", "", $3); print $3, $4, $5, $6 }' "$page"
}

cost_as_documented()
{
    local lanes=$1 kind source target both other count=0

    while read -r kind source target both; do
        if [ "$lanes" = served ] && other=$(rows 2 | grep "^$kind "); then
            read -r _ source target both <<<"$other"
        fi
        cell "$kind" source "$source"
        cell "$kind" target "$target"
        cell "$kind" both "$both"
        count=$((count + 1))
    done < <(rows 1)
    [ "$count" -eq "$(grep -c '^    {"' "$here/cells_kinds.c")" ] || fail "$count kinds in the table"
    [ "$(rows 2 | wc -l)" -eq 5 ] || fail "$(rows 2 | wc -l) rows that differ"
}
cost_as_documented_direct() { cost_as_documented direct; }
cost_as_documented_served() { cost_as_documented served; }

run_case
