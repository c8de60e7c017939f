#!/bin/bash
# include/keel/ucp.h: ucp_names_test.sh BUILD CASE.
set -u

name=$2
keelrun=$1/contrib/keelrun/keelrun
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
build=$1
sources=$(cd "${0%/*}/../.." && pwd)
small=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m)

# right FILE: each of three ranks printed the right sums once
right()
{
    has "$1" 3 '^rank [0-2]: right$'
    has "$1" 0 WRONG
}

ring_of_ucp_is_right()
{
    UCX_VFS_ENABLE=n timeout 60 "$build/contrib/examples/ucp_ring_plain" 3 >"$out" 2>"$err" || fail "status $?"
    right "$out"
}

# over the direct lane and the served one
ring_survives_a_kill()
{
    local nodes held

    hold 1 13 # behind its line
    for nodes in 1 3; do
        run 0 -n 3 --nodes $nodes "${small[@]}" "${held[@]}" --kill 1@marker:quarter "$build/contrib/examples/ucp_ring"
        right "$out"
        survived 1 1 0
    done
}

ring_rolls_back()
{
    local held

    hold 1 13
    run 0 -n 3 "${small[@]}" "${held[@]}" -x KEEL_PROTECT=ckpt --kill 1@marker:quarter "$build/contrib/examples/ucp_ring"
    right "$out"
    survived 1 0 1
}

calls_do_what_ucp_documents()
{
    run 0 -n 2 "${small[@]}" -x KEEL_LANES=direct "$build/tests/proc/ucp_names"
    run 0 -n 2 --nodes 2 "${small[@]}" "$build/tests/proc/ucp_names" served
}

# compiles COMPILER FLAGS...: the program in $scratch/program.c
compiles()
{
    "$@" -Wall -Wextra -Werror -I"$sources/include" -I"$build/include" -c -o "$scratch/program.o" \
        "$scratch/program.c" >"$out" 2>"$err"
}

header_is_c_and_cxx()
{
    local names

    command -v c++ >/dev/null || exit 77
    for names in '' '#define KEEL_UCP_NAMES'; do
        printf '%s\n#include <keel/ucp.h>\n' "$names" >"$scratch/program.c"
        compiles cc -std=c99 || fail "no C99"
        compiles cc -std=c11 || fail "no C11"
        compiles c++ -std=c++11 -x c++ || fail "no C++11"
    done
}

# statement TEXT: a program of UCP with that statement compiles
statement()
{
    printf '#define KEEL_UCP_NAMES\n#include <keel/ucp.h>\nvoid f(ucp_ep_h ep, ucp_worker_h w, ucp_request_param_t *p);
void f(ucp_ep_h ep, ucp_worker_h w, ucp_request_param_t *p)\n{\n(void)ep, (void)w, (void)p;\n%s\n}\n' "$1" >"$scratch/program.c"
    compiles cc -std=c11
}

what_has_no_counterpart_does_not_compile()
{
    local text

    statement '(void)ucp_ep_flush_nbx(ep, p), (void)ucp_worker_fence(w);' || fail "what has a counterpart does not compile"
    for text in 'ucp_tag_send_nbx(ep, 0, 0, 0, p);' 'ucp_am_send_nbx(ep, 0, 0, 0, 0, 0, p);' 'ucp_ep_create(w, 0, &ep);' \
        'p->request = 0;' 'p->memory_type = 0;' 'p->op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;' \
        '(void)ucp_ep_flush_nbx(w, p);'; do
        ! statement "$text" || fail "compiles: $text"
    done
    printf '#include <ucp/api/ucp.h>\n#define KEEL_UCP_NAMES\n#include <keel/ucp.h>\n' >"$scratch/program.c"
    # shellcheck disable=SC2046
    ! compiles cc $(pkg-config --cflags ucx) || fail "compiles beside UCP's header"
    grep -q 'KEEL_UCP_NAMES: leave out' "$err" || fail "not told to leave out UCP's header"
    printf '#define KEEL_UCP_NAMES\n#include <keel/ucp.h>\n#include <ucp/api/ucp.h>\n' >"$scratch/program.c"
    # shellcheck disable=SC2046
    ! compiles cc $(pkg-config --cflags ucx) || fail "compiles before UCP's header"
}

run_case
