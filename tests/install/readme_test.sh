#!/bin/bash
# Runs the commands of README.md's part on installing as they are printed, in a home of their own: readme_test.sh SOURCES LAUNCHER.
# Packages are not installed: those named are compared with what contrib's scripts install.
set -u

sources=$1 launcher=$2
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "README: $*"
    tail -n 40 "$scratch/out"
    exit 1
}

# shellcheck source=contrib/lib/packages.sh
. "$sources/contrib/lib/packages.sh"
awk '/^## / { inside = /^## Installing$/ } inside && /^    / { print substr($0, 5) }' "$sources/README.md" >"$scratch/commands"
grep -qxF "apt-get install ${keel_install_with[*]}" "$scratch/commands" ||
    fail "other packages than ${keel_install_with[*]}: $(grep apt-get "$scratch/commands")"
for command in 'cmake -S ' 'cmake --build ' 'cmake --install ' 'cc ' 'keelrun ' 'mpirun '; do
    grep -q "^$command" "$scratch/commands" || fail "no command that begins with '$command'"
done
sed -i '/^apt-get /d' "$scratch/commands"
command -v mpirun >/dev/null || sed -i '/^mpirun /d' "$scratch/commands"
runs=$(grep -c '^\(keelrun\|mpirun\) ' "$scratch/commands")

# a clone in which nothing is built yet
mkdir "$scratch/keel" "$scratch/home" || exit 1
for entry in CMakeLists.txt LICENSE README.md contrib include perf src tests transports; do
    ln -s "$sources/$entry" "$scratch/keel/$entry"
done
cd "$scratch/keel" || exit 1
# what is in README.md is not all that a machine needs that runs tests: what it keeps of earlier builds, a smaller log of gets
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM KEEL_OPLOG_SIZE
export HOME=$scratch/home CMAKE_C_COMPILER_LAUNCHER=$launcher
export CCACHE_DIR=${CCACHE_DIR:-$(ccache -k cache_dir 2>/dev/null)} CCACHE_BASEDIR=$scratch CCACHE_NOHASHDIR=1
export KEEL_GETLOG_SIZE=1m
bash -eu "$scratch/commands" >"$scratch/out" 2>&1 || fail "a command failed"
for ((rank = 0; rank < 4; rank++)); do
    [ "$(grep -c "^rank $rank, life [01]: 524288\$" "$scratch/out")" -eq "$runs" ] || fail "wrong output of rank $rank"
done
