/* Accumulates of several words with an effect on one word only. */
#ifndef KEEL_TEST_MANY_H_
#define KEEL_TEST_MANY_H_

#include <keel/keel.h>

/* True if an accumulate has the same effect on a word. */
int many_is_known(keel_atomic_op_t atomic);
/* Posts an accumulate over @a count elements of @a size bytes from @a offset on. It changes element
 * @a changed as keel_atomic_nbx() does, and leaves the other elements unchanged. */
keel_status_t many_atomics(keel_win_h win, keel_atomic_op_t atomic, uint32_t rank, uint64_t offset, size_t size,
                           uint64_t operand, size_t changed, size_t count, const keel_rma_params_t *params,
                           keel_req_h *req_p);

#endif
