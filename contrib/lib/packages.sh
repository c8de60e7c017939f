# shellcheck shell=bash
# Sourced by the scripts of contrib: the Debian packages that Keel is built with, and how missing ones are installed.

# shellcheck disable=SC2034 # used by who sources this
keel_install_with=(gcc libc6-dev cmake ninja-build pkg-config libucx-dev libpmix-dev libisal-dev libsodium-dev libhwloc-dev libibverbs-dev) # README, too
# shellcheck disable=SC2034
keel_build_packages=("${keel_install_with[@]}" check libopenmpi-dev libmpich-dev mpich ucx-utils python3 man-db mandoc)
# shellcheck disable=SC2034
keel_site_packages=(python3-sphinx python3-myst-parser furo pandoc chromium) # contrib/site and its test
# shellcheck disable=SC2034
keel_deb_packages=(lintian debhelper build-essential) # contrib/deb and its test
# shellcheck disable=SC2034
keel_trace_packages=(python3-jsonschema) # the schema of traces, tests/proc
# shellcheck disable=SC2034
keel_client_packages=(gfortran libcoarrays-openmpi-dev libcoarrays-mpich-dev libglobalarrays-dev libarmci-mpi-dev libscalapack-openmpi-dev libscalapack-mpich-dev) # tests/adapters/mpi
# shellcheck disable=SC2034
keel_guest_packages=(qemu-system-x86 busybox-static kmod cpio ibverbs-providers iproute2) # tests/rdma

# keel_pick_clang: prints the version of clang to use: 14, whose clang-format the sources are formatted with, or else what the
# release has
keel_pick_clang()
{
    local version=14

    if ! command -v clang-14 >/dev/null && ! apt-cache show clang-14 >/dev/null 2>&1; then
        version=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p')
    fi
    echo "${version:-14}"
}

keel_clang=$(keel_pick_clang)
# shellcheck disable=SC2034
keel_proof_packages=("clang-$keel_clang" "libclang-rt-$keel_clang-dev" spin valgrind) # fuzzers, the model and counts of instructions
# shellcheck disable=SC2034
keel_format_packages=()
[ "$keel_clang" != 14 ] || keel_format_packages=(clang-format-14) # another version formats otherwise

# keel_install_packages PACKAGE...: installs those that are missing; says nothing when there are none.
# Fails with one line when they cannot be had.
keel_install_packages()
{
    local package missing=() as_root=()

    if ! command -v dpkg-query >/dev/null; then
        echo "no dpkg here: please see to it that these are installed: $*" >&2
        return 0
    fi
    for package; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
            missing+=("$package")
        fi
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "as root, please: apt-get install ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "installing ${missing[*]}"
    if ! "${as_root[@]}" apt-get -qq update ||
        ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
            "${missing[@]}" >/dev/null; then
        echo "could not install ${missing[*]}" >&2
        return 1
    fi
}
