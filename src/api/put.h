/* Put. */
#ifndef KEEL_API_PUT_H_
#define KEEL_API_PUT_H_

#include "api/target.h"

/* programs that wait: logs this process's clock before what it does there, if it was not since the last wait */
keel_status_t keel_put_clock(keel_win_h win, uint32_t rank);

/* direct lane, before what is put there, or an atomic: what was read there has its records there */
void keel_put_push_gets(keel_context_h ctx, uint32_t rank);

#endif
