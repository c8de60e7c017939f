#!/bin/bash
# What one death costs at any moment, as contrib/doc/deaths.md has it cell by cell: floors_test.sh SIM_CELLS LANES RUNS.
# Of so many programs per cell: 'local' is all of them, 'rollback' is up to 15 % local (what the victim had done so far, or had
# been done to it, was less than the row says), and of 'either' at least 55 % are local.
set -u

sim_cells=$1 lanes=$2 runs=$3
page=$(cd "$(dirname "$0")" && pwd)/../../../contrib/doc/deaths.md
cells=0 failed=0

# rows TABLE: kind and costs of the page's first or second table
rows()
{
    awk -v table="$1" -F ' *[|] *' '/^\|---/ { tables++ } tables == table && $3 ~ /^`/ { gsub("`", "", $3); print $3, $4, $5 }' "$page"
}

# cell KIND WHO COST
cell()
{
    local bounds

    case $3 in
    local) bounds='100 100' ;;
    rollback) bounds='0 15' ;;
    either) bounds='55 99' ;;
    *) echo "no cost is called '$3'" >&2; exit 1 ;;
    esac
    # shellcheck disable=SC2086
    "$sim_cells" "$1" "$2" "$lanes" "$runs" $bounds || { echo "$1, $2, $lanes: not $3" >&2; failed=1; }
    cells=$((cells + 1))
}

while read -r kind source target; do
    if [ "$lanes" = served ] && other=$(rows 2 | grep "^$kind "); then
        read -r _ source target <<<"$other"
    fi
    cell "$kind" source "$source"
    cell "$kind" target "$target"
done < <(rows 1)
[ "$cells" -ge 70 ] || { echo "$cells cells in the table" >&2; exit 1; }
exit "$failed"
