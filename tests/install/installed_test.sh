#!/bin/bash
# What a build installs: installed_test.sh TEST SOURCES BUILD CMAKE, where TEST is one of the functions below. BUILD has all targets.
set -u

test=$1 sources=$2 build=$3 cmake=$4
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
version=$(sed -n 's/^project(keel VERSION \([0-9.]*\) .*/\1/p' "$sources/CMakeLists.txt")

fail()
{
    echo "installed: $test: $*" >&2
    exit 1
}

# install_into FOLDER [ARGUMENT...]: of cmake --install
install_into()
{
    local folder=$1

    shift
    "$cmake" --install "$build" --prefix "$folder" "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        fail "cmake --install $* failed"
    }
}

# each program tells its version and its options
tools_answer()
{
    local tool name option

    install_into "$scratch/p"
    export LD_LIBRARY_PATH=$scratch/p/lib
    for tool in "$scratch"/p/bin/* "$scratch"/p/lib/keel/openshmem/bin/*; do
        name=$(basename "$tool")
        "$tool" --version >"$scratch/out" 2>"$scratch/err" || fail "$name --version: status $?"
        [[ "$(tail -n 1 "$scratch/out")" =~ ^(keel-)?"${name#keel-} $version"$ ]] || fail "$name --version says $(tail -n 1 "$scratch/out")"
        [ ! -s "$scratch/err" ] || fail "$name --version writes to stderr: $(cat "$scratch/err")"
        for option in -h --help; do
            "$tool" $option >"$scratch/out$option" 2>"$scratch/err" || fail "$name $option: status $?"
            [[ "$(head -n 1 "$scratch/out$option")" =~ ^"Usage: "(keel-)?"${name#keel-} " ]] || fail "$name $option begins with $(head -n 1 "$scratch/out$option")"
            grep -q -e '-h, --help ' "$scratch/out$option" || fail "$name $option does not have -h, --help"
            grep -q -e '--version ' "$scratch/out$option" || fail "$name $option does not have --version"
            [ ! -s "$scratch/err" ] || fail "$name $option writes to stderr: $(cat "$scratch/err")"
        done
        cmp -s "$scratch/out-h" "$scratch/out--help" || fail "$name: -h and --help differ"
        echo "$name"
    done >"$scratch/names"
    [ "$(wc -l <"$scratch/names")" -ge 10 ] || fail "only these were tried: $(cat "$scratch/names")"
}

# with BUILD_TESTING=OFF all programs and shared libraries that are built are installed
only_installed_is_built()
{
    local built installed

    "$cmake" -G Ninja -S "$sources" -B "$scratch/b" -DBUILD_TESTING=OFF >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
    ninja -C "$scratch/b" -t commands all >"$scratch/log" || fail "ninja has no commands"
    built=$(grep -oE ' -o [^ ]+' "$scratch/log" | grep -v '\.o$' | sed 's|.*/||' | sort -u)
    installed=$(grep -hoE '/[^"/]*"' "$scratch"/b/{src,src/tools,src/adapters/*,contrib/keelrun,perf}/cmake_install.cmake | tr -d '"/' | sort -u)
    [ "$(wc -l <<<"$built")" -ge 6 ] || fail "only these are built: $built"
    for program in $built; do
        grep -qxF "$program" <<<"$installed" || fail "$program is built, but not installed"
    done
    echo "$(wc -l <"$scratch/log") steps"
}

# each component has the files that the table says, a file is in one component, and all components are the whole
components_are_the_whole()
{
    local component path pattern

    install_into "$scratch/all"
    (cd "$scratch/all" && find . ! -type d | cut -c 3- | sort) >"$scratch/all.list"
    for component in runtime development tools doc; do
        install_into "$scratch/$component" --component $component
        (cd "$scratch/$component" && find . ! -type d | cut -c 3- | sort) >"$scratch/$component.list"
        sed -n "s/^$component  *//p" "$sources/tests/install/components" >"$scratch/patterns"
        while read -r path; do
            while read -r pattern; do
                # shellcheck disable=SC2053 # a pattern
                [[ $path != $pattern ]] || continue 2
            done <"$scratch/patterns"
            fail "component $component has $path, which the table does not have"
        done <"$scratch/$component.list"
        while read -r pattern; do
            [[ $pattern != *keel-mpi* || -d $scratch/all/lib/keel-mpi ]] || continue # no MPI was there
            compgen -G "$scratch/$component/$pattern" >/dev/null || fail "component $component has no $pattern"
        done <"$scratch/patterns"
    done
    sort "$scratch"/{runtime,development,tools,doc}.list >"$scratch/sum.list"
    diff "$scratch/all.list" "$scratch/sum.list" || fail "the components together are not the whole"
}

# pkg-config that finds no other package; the shared library is enough, without what other -dev packages have
keel_pc_stands_alone()
{
    local package

    install_into "$scratch/p"
    export PKG_CONFIG_LIBDIR=$scratch/p/lib/pkgconfig PKG_CONFIG_PATH=''
    for package in keel keel-shmem; do
        pkg-config --cflags --libs --static "$package" >"$scratch/out" || fail "$package needs another package"
        [ "$(pkg-config --libs $package | grep -oE -- '-l[^ ]*' | grep -v keel)" = "" ] || fail "$package links $(pkg-config --libs $package)"
    done
    # shellcheck disable=SC2046
    cc -Wl,--no-undefined -o "$scratch/hello" "$sources/contrib/examples/hello_keel.c" $(pkg-config --cflags --libs keel) || fail "no program"
    for package in ucp pmix isal sodium hwloc; do
        ! readelf -d "$scratch/hello" | grep -q "NEEDED.*lib$package" || fail "a program is linked with lib$package"
    done
}

case $test in
tools_answer | only_installed_is_built | components_are_the_whole | keel_pc_stands_alone) $test ;;
*) fail "no such test" ;;
esac
