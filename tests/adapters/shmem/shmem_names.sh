#!/bin/bash
# The names of OpenSHMEM: shmem_names.sh DIRECTORY-OF-THE-BUILD CASE. Each of tests/adapters/shmem/specification is declared, for C and C++, exported
# by the library, with its name for profiling, and used by the test that is said to cover it; and the library exports no other.
set -u
export LC_ALL=C

build=$1 name=$2
here=$(dirname "$0")
include=$here/../../../src/adapters/shmem
library=$build/src/adapters/shmem/libkeel-shmem.so
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
status=0

fail() {
    echo "$name: $*"
    status=1
}

# "NAME TEST" for each function
functions() {
    awk '
        $1 == "list" { for (i = 3; i <= NF; i++) lists[$2] = lists[$2] " " $i; next }
        /^#/ || NF < 2 { next }
        match($1, /<[A-Z_]+>/) {
            count = split(lists[substr($1, RSTART + 1, RLENGTH - 2)], part, " ")
            for (i = 1; i <= count; i++) print substr($1, 1, RSTART - 1) part[i] substr($1, RSTART + RLENGTH), $2
            next
        }
        { print $1, $2 }' "$here/specification" | sort
}
functions > "$work/functions"
cut -d ' ' -f 1 "$work/functions" > "$work/names"
sed -n 's/^shmem_/pshmem_/p' "$work/names" | sort > "$work/twins"
[ "$(wc -l < "$work/names")" -gt 1500 ] || fail "the list has $(wc -l < "$work/names") names"
[ -z "$(uniq -d "$work/names")" ] || fail "twice in the list: $(uniq -d "$work/names" | head -n 3)"

# an array of all of them, so that what is not declared is an error
declared() {
    local source=$work/all.$1
    {
        echo '#include <pshmem.h>'
        echo 'void (*const all[])(void) = {'
        cat "$work/names" "$work/twins" | sed 's/.*/(void (*)(void))&,/'
        echo '};'
    } > "$source"
    # shellcheck disable=SC2086 # several words
    $2 -I "$include" -Wall -Wextra -Werror -Wno-cast-function-type -c -o "$work/all.o" "$source" || fail "not all are declared: $2"
}

names_are_declared() {
    declared c "${CC:-cc} -std=gnu11"
    declared c "${CC:-cc} -std=gnu99"
    declared cc "${CXX:-c++} -std=c++11"
    declared cc "${CXX:-c++} -std=c++20"
}

names_are_exported() {
    nm -D --defined-only "$library" | awk '{ print $3 }' | sort > "$work/exported"
    sort "$work/names" "$work/twins" > "$work/expected"
    comm -13 "$work/exported" "$work/expected" > "$work/missing"
    comm -23 "$work/exported" "$work/expected" > "$work/more"
    [ ! -s "$work/missing" ] || fail "not exported: $(head -n 5 "$work/missing" | tr '\n' ' ')"
    [ ! -s "$work/more" ] || fail "exported, and not in the list: $(head -n 5 "$work/more" | tr '\n' ' ')"
    # that a tool may define it
    nm -D --defined-only "$library" | awk '$2 != "W" && $3 ~ /^shmem_/ { print $3 }' > "$work/strong"
    [ ! -s "$work/strong" ] || fail "not weak: $(head -n 5 "$work/strong" | tr '\n' ' ')"
}

names_are_covered() {
    local test object
    for test in $(cut -d ' ' -f 2 "$work/functions" | sort -u); do
        object=$(find "$build/tests/adapters/shmem" -name "shmem_chapter_$test.c.o" -o -name "$test.c.o" | head -n 1)
        [ -n "$object" ] || {
            fail "there is no test $test"
            continue
        }
        nm -u "$object" | awk '{ print $2 }' | sort > "$work/used"
        awk -v test="$test" '$2 == test { print $1 }' "$work/functions" | sort | comm -23 - "$work/used" > "$work/unused"
        [ ! -s "$work/unused" ] || fail "$test does not call $(wc -l < "$work/unused") that it is said to cover: $(head -n 5 "$work/unused" | tr '\n' ' ')"
    done
}

"$name"
exit $status
