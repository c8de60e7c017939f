/* Gets. */
#ifndef KEEL_RMA_GET_H_
#define KEEL_RMA_GET_H_

#include "access/fragment.h"
#include "access/target.h"

/* any admitted get, as part of a request */
keel_status_t keel_get_issue(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                             struct keel_req *req);
/* the same without polling, whatever KEEL_PARAM_FLAG_POLLS says */
keel_status_t keel_get_fragments(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                                 struct keel_req *req);

#endif
