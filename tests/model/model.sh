#!/bin/bash
# Checks a model in every state that it can reach: model.sh MODEL.pml holds|refuted [-DNAME[=VALUE]...]. "refuted": a
# counterexample is what is expected, and the test fails when there is none.
set -u
model=$1 expected=$2
shift 2
command -v spin >/dev/null || { echo "skipped: no spin"; exit 77; }

optimise=-O2 # a counterexample is found in less time than that takes
[ "$expected" = holds ] || optimise=-O0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
if ! spin -a "$@" "$model" >generated 2>&1 || ! gcc "$optimise" -w -DSAFETY -DMEMLIM=1800 -DVECTORSZ=2048 -o pan pan.c; then
    cat generated
    exit 1
fi
timeout 300 ./pan -m20000 >output 2>&1
grep -E '^pan:|errors:|states, stored|total actual' output | cut -c1-200
# a search that was cut short says nothing
if ! grep -q 'errors:' output || grep -qE 'out of memory|max search depth too small|reached -DMEMLIM' output; then
    echo "the search did not come to its end"
    exit 1
fi
case $expected in
holds) grep -q 'errors: 0$' output && exit 0 ;;
refuted)
    if grep -q 'errors: [1-9]' output; then
        exit 0
    fi
    echo "no counterexample: what was left out is not needed, or the model cannot see it"
    exit 1
    ;;
esac
spin -k "$(basename "$model").trail" -t -p "$@" "$model" 2>/dev/null | sed -n 's/^ *\([0-9]*:\)\s*proc *\([0-9]*\) .*\[\(.*\)\]$/\1 process \2 \3/p' | cut -c1-160 | tail -n 100
exit 1
