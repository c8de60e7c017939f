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

skip()
{
    echo "skipped: $*"
    exit 77
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
    installed=$(grep -hoE '/[^"/]*"' "$scratch"/b/{src,src/preload,src/tools,src/adapters/*,contrib/keelrun,perf}/cmake_install.cmake | tr -d '"/' | sort -u)
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

# refused NAME|LINE HEADER [PREFIX]: keel-man takes the headers, unless HEADER has that line, too, which declares NAME
refused()
{
    local name=${1%%|*} line=${3:-}${1#*|} taken=("$sources/contrib/man/keel-man" --headers "$scratch/headers") header

    for header in "$scratch"/adapters/*.h; do
        taken+=(--adapter "$header")
    done
    if [ -z "$name" ]; then
        "${taken[@]}" >"$scratch/out" 2>&1 || fail "$(cat "$scratch/out")"
        return
    fi
    cp "$scratch/$2" "$scratch/kept"
    echo "$line" >>"$scratch/$2"
    ! "${taken[@]}" >"$scratch/out" 2>&1 || fail "$name without a page is taken"
    grep -q "$name is on no page" "$scratch/out" || fail "not said: $(cat "$scratch/out")"
    grep -q "$name has no comment" "$scratch/out" || fail "not said: $(cat "$scratch/out")"
    mv "$scratch/kept" "$scratch/$2"
}

# man pages without a warning, one for each call and tool, found by man; a call or type without a page is refused
pages_are_whole()
{
    local page name include=$sources/include/keel adapters=$sources/src/adapters

    if ! command -v man >/dev/null || ! command -v mandoc >/dev/null; then
        skip "no man or mandoc"
    fi
    install_into "$scratch/p" --component doc
    for page in "$scratch"/p/share/man/man*/*; do
        if grep -q '^\.so ' "$page"; then
            [ -s "$scratch/p/share/man/$(sed 's/^\.so //' "$page")" ] || fail "$page leads nowhere"
            continue
        fi
        mandoc -Tlint "$page" >"$scratch/out" 2>&1 || true
        LC_ALL=C.UTF-8 MANWIDTH=80 man -l --warnings "$page" 2>>"$scratch/out" >"$scratch/text"
        [ ! -s "$scratch/out" ] || fail "$page: $(head -n 5 "$scratch/out")"
        [ "$(wc -l <"$scratch/text")" -ge 15 ] || fail "$page is empty"
        ! grep -nE "@(a|param|return) |f[BIP][A-Za-z_]+f[PR]" "$scratch/text" || fail "$page shows what a reader does not want"
    done
    # what the libraries export beyond the specifications of OpenSHMEM and MPI; prefix sums have a page for all types
    sed -n 's/^ *\(keel_[a-z_]*\);$/\1/p' "$sources/src/libkeel.map" "$adapters/mpi/keel-mpi.map" >"$scratch/names"
    grep -q '^keel_mpi_' "$scratch/names" || fail "no calls of keel_mpi.h"
    nm -D --defined-only "$build/src/adapters/shmem/libkeel-shmem.so" | sed -n 's/.* T \(shmemx_.*\)/\1/p' |
        sed -E 's/^shmemx_[a-z0-9]+_(sum_..scan)$/shmemx_TYPENAME_\1/' | sort -u >"$scratch/extended"
    [ "$(wc -l <"$scratch/extended")" -ge 10 ] || fail "only these extend OpenSHMEM: $(cat "$scratch/extended")"
    cat "$scratch/extended" >>"$scratch/names"
    while read -r name; do
        page=$scratch/p/share/man/man3/$name.3
        [ -s "$page" ] || fail "no page for $name"
        ! grep -q '^\.so ' "$page" || page=$scratch/p/share/man/$(sed 's/^\.so //' "$page")
        grep -qF "\\fB$name\\fP(" "$page" || fail "$page has no prototype of $name"
    done <"$scratch/names"
    MANPATH=$scratch/p/share/man man -P cat keel_put_nbx >"$scratch/text" || fail "man keel_put_nbx finds nothing"
    grep -q '^RETURN VALUE' "$scratch/text" || fail "man keel_put_nbx shows another page: $(head -n 1 "$scratch/text")"
    install_into "$scratch/t" --component tools
    for name in "$scratch"/t/bin/*; do
        LC_ALL=C man -l "$scratch/p/share/man/man1/$(basename "$name").1" >"$scratch/text" 2>&1 || fail "no page for $name"
        "$name" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$scratch/options"
        while read -r option; do
            grep -q -e "$option" "$scratch/text" || fail "the page of $(basename "$name") has no $option"
        done <"$scratch/options"
    done
    mkdir "$scratch/headers"
    mkdir "$scratch/adapters"
    cp "$include"/*.h "$scratch/headers"
    cp "$adapters"/shmem/{shmem,shmem_survive,shmemx}.h "$adapters/mpi/keel_mpi.h" "$scratch/adapters"
    refused ''
    refused 'keel_new|void keel_new(void);' headers/stats.h 'KEEL_API '
    refused 'shmemx_new|void shmemx_new(void);' adapters/shmem.h 'SHMEM_API '
    refused 'shmem_new|SHMEM_FUNCTION(int, new, (void))' adapters/shmem_survive.h
    refused 'shmemx_TYPENAME_new|#define SHMEM_DECLARE_NEW(_name, _type) SHMEM_API void shmemx_##_name##_new(_type *t);' adapters/shmemx.h
    refused 'SHMEMX_NEW|#define SHMEMX_NEW 1' adapters/shmemx.h
    refused 'keel_mpi_new|int keel_mpi_new(void);' adapters/keel_mpi.h
    refused 'KEEL_MPI_NEW|#define KEEL_MPI_NEW() keel_mpi_resume()' adapters/keel_mpi.h
}

# complete WORD...: what the last word of a command line may become
complete_words()
{
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    "$(complete -p "$(basename "$1")" | sed 's/.* -F \([^ ]*\) .*/\1/')"
}

# in bash each option of --help, values that are words, and no option of a launcher behind the program
options_complete()
{
    local tool name option count=0

    install_into "$scratch/p"
    export LD_LIBRARY_PATH=$scratch/p/lib PATH=$scratch/p/bin:$PATH
    for tool in "$scratch"/p/bin/*; do
        name=$(basename "$tool")
        # shellcheck source=/dev/null
        . "$scratch/p/share/bash-completion/completions/$name" || fail "no completion for $name"
        complete_words "$tool" -
        "$tool" --help | grep -E '^ {1,8}-' | sed 's/^\( *[^ ]*\( [^ ]*\)\{0,3\}\)  .*/\1/' |
            grep -oE -- '(^|[ ,])--?[A-Za-z][A-Za-z:-]*' | tr -d ' ,' >"$scratch/options"
        while read -r option; do
            [[ " ${COMPREPLY[*]} " == *" $option "* ]] || fail "$name: $option does not complete"
            count=$((count + 1))
        done <"$scratch/options"
    done
    [ $count -ge 120 ] || fail "only $count options"
    complete_words keelrun -n 4 --kill
    [ "${COMPREPLY[*]}" = "--kill --kill-node" ] || fail "--kill became ${COMPREPLY[*]}"
    complete_words keelrun --map b
    [ "${COMPREPLY[*]}" = block ] || fail "--map b became ${COMPREPLY[*]}"
    complete_words keel_perftest -t put
    [ "${COMPREPLY[*]}" = "put_lat put_bw put_mr" ] || fail "-t put became ${COMPREPLY[*]}"
    complete_words keelrun -n 4 --tag ./program --k
    [ ${#COMPREPLY[@]} -eq 0 ] || fail "an option of the program became ${COMPREPLY[*]}"
    echo "$count options"
}

# each preset is configured, with what its name says
presets_configure()
{
    local preset

    for preset in release,BUILD_TESTING:BOOL=OFF debug,CMAKE_BUILD_TYPE:STRING=Debug check,BUILD_TESTING:BOOL=ON \
        asan,KEEL_SANITIZE:STRING=ON tsan,KEEL_SANITIZE:STRING=thread; do
        (cd "$sources" && "$cmake" --preset "${preset%,*}" -B "$scratch/b") >"$scratch/log" 2>&1 || fail "$preset: $(cat "$scratch/log")"
        grep -qxF "${preset#*,}" "$scratch/b/CMakeCache.txt" || fail "$preset is not in the cache"
        rm -r "$scratch/b"
    done
}

# libkeel0 suggests the MPIs by the names that they have in this release of Debian
mpis_are_suggested()
{
    local name

    if ! command -v dpkg-query >/dev/null || ! command -v make >/dev/null; then
        echo "no make or dpkg-query: the suggested MPIs are not checked"
        return
    fi
    mkdir "$scratch/dh"
    cp -r "$sources/contrib/debian" "$scratch/dh/debian"
    printf '#!/bin/sh\necho "$@"\n' >"$scratch/dh/dh_gencontrol"
    chmod +x "$scratch/dh/dh_gencontrol"
    (cd "$scratch/dh" && PATH=$PWD:$PATH make -s -f debian/rules override_dh_gencontrol) >"$scratch/out" || fail "no dh_gencontrol"
    for name in libmpich libopenmpi; do
        dpkg-query -W "$name-dev" >/dev/null 2>&1 || continue
        name=$(sed -n "s/.*\(${name}[0-9][a-z0-9]*\).*/\1/p" "$scratch/out")
        if [ -z "$name" ] || ! dpkg-query -W "$name" >/dev/null 2>&1; then
            fail "no MPI of this release is suggested: $(cat "$scratch/out")"
        fi
    done
}

# the names that Spack's recipe gives to CMake are CMakeLists.txt's; Spack itself is in no release of Debian
spack_recipe_fits()
{
    local line

    PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/spack_recipe.py" "$sources" >"$scratch/spack" || fail "Spack's recipe does not fit"
    [ "$(wc -l <"$scratch/spack")" -ge 4 ] || fail "only these definitions are Spack's: $(cat "$scratch/spack")"
    while read -r line; do
        # shellcheck disable=SC2086 # definitions
        "$cmake" -G Ninja -S "$sources" -B "$scratch/s" $line >"$scratch/log" 2>&1 || fail "$line: $(cat "$scratch/log")"
        ! grep -q 'not used by the project' "$scratch/log" || fail "$line: $(cat "$scratch/log")"
        rm -r "$scratch/s"
    done < <(grep -e 'TESTING=OFF' "$scratch/spack")
}

# what packagers have beside CMake's files names this version and this licence, and is whole
recipes_are_current()
{
    [ "$(sed -n '1s/^keel (\(.*\)-[0-9]*) .*/\1/p' "$sources/contrib/debian/changelog")" = "$version" ] || fail "debian/changelog has another version"
    grep -qxF "    version(\"$version\")" "$sources/contrib/spack/package.py" || fail "Spack's recipe has another version"
    spack_recipe_fits
    mpis_are_suggested
    # each installed file is in the list of a Debian package, by component; debian_packages_are_clean builds the packages
    install_into "$scratch/p"
    cat "$sources"/contrib/debian/*.install | sed 's|^usr/||; s|^lib/\*/|lib/|' >"$scratch/patterns"
    (cd "$scratch/p" && find . ! -type d | cut -c 3- | grep -v 'share/doc/keel/LICENSE') >"$scratch/list"
    while read -r path; do
        while read -r pattern; do
            # shellcheck disable=SC2053 # a pattern
            [[ $path != $pattern && $path != $pattern/* ]] || continue 2
        done <"$scratch/patterns"
        fail "$path is in no Debian package"
    done <"$scratch/list"
}

# the packages are built and lintian takes them
debian_packages_are_clean()
{
    if ! command -v lintian >/dev/null || ! command -v dh >/dev/null; then
        skip "no lintian or debhelper"
    fi
    (cd "$sources" && git rev-parse) >/dev/null 2>&1 || skip "no repository of git"
    "$sources/contrib/deb" "$scratch/debs" >"$scratch/log" 2>&1 || fail "$(tail -n 40 "$scratch/log")"
    tail -n 1 "$scratch/log"
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
tools_answer | only_installed_is_built | pages_are_whole | options_complete | presets_configure | recipes_are_current | debian_packages_are_clean | components_are_the_whole | keel_pc_stands_alone) $test ;;
*) fail "no such test" ;;
esac
