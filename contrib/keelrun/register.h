/*
 * Registers the job's layout and each rank with a PMIx server before clients come. Calls wait for
 * completion.
 */
#ifndef KEELRUN_REGISTER_H_
#define KEELRUN_REGISTER_H_

#include <pmix_common.h>

#include "options.h"

pmix_status_t register_job(const options_t *options, uint32_t node, const char *job);
/* incarnation > 0: the rank was here before, or comes from a lost node. */
pmix_status_t register_rank(const char *job, uint32_t rank, uint32_t incarnation, uint32_t local);

#endif
