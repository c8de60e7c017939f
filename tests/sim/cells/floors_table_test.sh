#!/bin/bash
# The floors of contrib/doc/deaths.md are those that the tests demand, and all of them: floors_table_test.sh CTESTTESTFILE.
set -u

tests=$1
page=$(cd "$(dirname "$0")" && pwd)/../../../contrib/doc/deaths.md
failed=0

complain()
{
    echo "$*" >&2
    failed=1
}

# demanded NAME: its floor; 'none': there is the test, and no floor; nothing: there is no such test
demanded()
{
    sed -n "s/^add_test(\[*=*\[*sim_$1\]*=*\]* .*/&/p" "$tests" |
        sed -E 's/.*"--floor" "([0-9]+)".*/\1/; t; s/.*/none/'
}

# check NAME FLOOR: as the page has it
check()
{
    local is

    is=$(demanded "$1")
    named="$named $1 "
    case $is in
    "$2") ;;
    none) [ "$2" = 100 ] || complain "sim_$1 demands nothing, and the page has $2" ;;
    *) complain "sim_$1 demands '$is', and the page has '$2'" ;;
    esac
}

named=
rows=0
while IFS='|' read -r served both mapped names; do
    rows=$((rows + 1))
    for name in $names; do
        case $name in
        *_...)
            [ -z "$served" ] || check "${name%...}served" "$served"
            [ -z "$both" ] || check "${name%...}auto" "$both"
            [ -z "$mapped" ] || [[ $names == *by_stores* ]] || check "${name%...}direct" "$mapped"
            ;;
        *) check "$name" "$mapped" ;;
        esac
    done
done < <(awk -F ' *[|] *' '/^\|---/ { tables++ } tables == 3 && $2 ~ /^`/ { gsub("[`,]", "", $7); print $4 "|" $5 "|" $6 "|" $7 }' "$page")
[ "$rows" -ge 15 ] || complain "the page has $rows rows"
while read -r name; do
    [[ $named == *" $name "* ]] || complain "the page does not name sim_$name"
done < <(sed -nE '/"--floor" "[1-9]/s/^add_test\([=[]*sim_([a-z0-9_]+).*/\1/p' "$tests")
exit "$failed"
