/* Accumulates of several words by which one alone is changed. */
#ifndef KEEL_TEST_MANY_H_
#define KEEL_TEST_MANY_H_

#include <keel/keel.h>

/* that an accumulate does to a word, too */
int many_is_known(keel_atomic_op_t atomic);
/* posted: as keel_atomic_nbx() on element @a changed of @a count, @a size bytes each, which begin at @a offset; the others stay as they are */
keel_status_t many_atomics(keel_win_h win, keel_atomic_op_t atomic, uint32_t rank, uint64_t offset, size_t size,
                           uint64_t operand, size_t changed, size_t count, const keel_rma_params_t *params,
                           keel_req_h *req_p);

#endif
