/*
 * What runtime/pmix and keelrun say to each other through PMIx events and the environment.
 *
 * A client tells the launcher (range RM: the launcher alone hears it) that it has met the others and that the last gsync is over, and a replacement
 * that it is there and, later, that its keel_init() is over, and of ranks that are silent; the launcher, which puts all events of a job in one order, tells the
 * clients of death, join and exit. Death has PMIx's own code, so that programs which know nothing of Keel hear it too.
 */
#ifndef KEEL_RUNTIME_PMIX_EVENTS_H_
#define KEEL_RUNTIME_PMIX_EVENTS_H_

#include <pmix_common.h>

#define KEEL_PMIX_EVENT_DEATH PMIX_ERR_PROC_ABORTED
#define KEEL_PMIX_EVENT_JOIN  (PMIX_EXTERNAL_ERR_BASE - 101)
#define KEEL_PMIX_EVENT_EXIT  (PMIX_EXTERNAL_ERR_BASE - 102)
#define KEEL_PMIX_EVENT_MET   (PMIX_EXTERNAL_ERR_BASE - 103) /* to the launcher only */

#define KEEL_PMIX_EVENT_SUSPECT (PMIX_EXTERNAL_ERR_BASE - 104) /* to the launcher only */

#define KEEL_PMIX_EVENT_GONE (PMIX_EXTERNAL_ERR_BASE - 106) /* a death that ranks found out by themselves */
#define KEEL_PMIX_EVENT_CALL (PMIX_EXTERNAL_ERR_BASE - 105) /* a spare is to take a rank */
#define KEEL_PMIX_EVENT_NEED (PMIX_EXTERNAL_ERR_BASE - 107) /* memory that spares are to have ready */

#define KEEL_PMIX_EVENT_OVER (PMIX_EXTERNAL_ERR_BASE - 108) /* to keelrun only: the last gsync is over */

#define KEEL_PMIX_KEY_RANK        "keel.rank"        /* PMIX_UINT32 */
#define KEEL_PMIX_KEY_INCARNATION "keel.incarnation" /* PMIX_UINT32 */
#define KEEL_PMIX_KEY_ADDRESS     "keel.address" /* PMIX_BYTE_OBJECT, of a join; of a need: uint64_t, bytes of each piece */
#define KEEL_PMIX_KEY_HOLDER      "keel.holder" /* PMIX_UINT32, of a join or call: the launcher's process */

#define KEEL_PMIX_KEY_HEARD   "keel.heard"   /* PMIX_UINT32, of a suspicion: keel_suspicion_t */
#define KEEL_PMIX_KEY_LIVE    "keel.live"    /* PMIX_UINT32 */
#define KEEL_PMIX_KEY_SILENCE "keel.silence" /* PMIX_UINT64, ns */
#define KEEL_PMIX_KEY_REPEATS "keel.repeats" /* PMIX_UINT32 */

#define KEEL_PMIX_KEY_PROCESS "keel.process" /* PMIX_BYTE_OBJECT, published by a rank: keel_process_t */

#define KEEL_PMIX_KEY_SECRET \
    "keel.secret" /* PMIX_BYTE_OBJECT of KEEL_AUTH_SECRET bytes: the job's by keelrun, else published by rank 0 */

#define KEEL_PMIX_ADDRESS_MAX 65536 /* bytes */

/* before NAME=VALUE, as the reason of an abort with KEEL_EXIT_AGAIN: keelrun starts the job anew with that */
#define KEELRUN_START_WITH "start with "

/* environment of a rank */
#define KEEL_ENV_INCARNATION "KEEL_INCARNATION" /* set by keelrun: how often this rank was replaced */
#define KEELRUN_ENV_NODE     "KEELRUN_NODE"     /* the emulated node; its presence says that keelrun started us */
#define KEELRUN_ENV_NETNS    "KEELRUN_NETNS"    /* set: each emulated node has a network namespace of its own */
#define KEELRUN_ENV_START    "KEELRUN_START_NS" /* CLOCK_MONOTONIC at keelrun's start: zero of its times */

#endif
