/*
 * The protocol between runtime/pmix and keelrun: PMIx events and environment variables.
 *
 * A client notifies the launcher alone (range RM) after it has met the other ranks, after the last
 * gsync, and of silent ranks. A replacement announces its join and, later, the end of its
 * keel_init(). The launcher puts all events of a job in one order and announces deaths, joins and
 * exits to the clients. Death has PMIx's own code, so that programs without Keel receive it, too.
 */
#ifndef KEEL_RUNTIME_PMIX_EVENTS_H_
#define KEEL_RUNTIME_PMIX_EVENTS_H_

#include <pmix_common.h>

#define KEEL_PMIX_EVENT_DEATH PMIX_ERR_PROC_ABORTED
#define KEEL_PMIX_EVENT_JOIN  (PMIX_EXTERNAL_ERR_BASE - 101)
#define KEEL_PMIX_EVENT_EXIT  (PMIX_EXTERNAL_ERR_BASE - 102)
#define KEEL_PMIX_EVENT_MET   (PMIX_EXTERNAL_ERR_BASE - 103) /* to the launcher only */

#define KEEL_PMIX_EVENT_SUSPECT (PMIX_EXTERNAL_ERR_BASE - 104) /* to the launcher only */

/* a death that the ranks found out by themselves */
#define KEEL_PMIX_EVENT_GONE (PMIX_EXTERNAL_ERR_BASE - 106)
#define KEEL_PMIX_EVENT_CALL (PMIX_EXTERNAL_ERR_BASE - 105) /* a spare is to take a rank */
#define KEEL_PMIX_EVENT_NEED (PMIX_EXTERNAL_ERR_BASE - 107) /* memory that spares should prepare */

/* to keelrun only: the last gsync is over */
#define KEEL_PMIX_EVENT_OVER (PMIX_EXTERNAL_ERR_BASE - 108)

/* by keelrun: a dead rank gets no replacement (KEEL_EVENT_GONE) */
#define KEEL_PMIX_EVENT_SHRINK (PMIX_EXTERNAL_ERR_BASE - 109)

#define KEEL_PMIX_KEY_RANK        "keel.rank"        /* PMIX_UINT32 */
#define KEEL_PMIX_KEY_INCARNATION "keel.incarnation" /* PMIX_UINT32 */
/* PMIX_BYTE_OBJECT; of a join: the address; of a need: uint64_t, the bytes of each region */
#define KEEL_PMIX_KEY_ADDRESS "keel.address"
/* PMIX_UINT32, of a join or call: the launcher's process */
#define KEEL_PMIX_KEY_HOLDER "keel.holder"

#define KEEL_PMIX_KEY_HEARD   "keel.heard"   /* PMIX_UINT32, of a suspicion: keel_suspicion_t */
#define KEEL_PMIX_KEY_LIVE    "keel.live"    /* PMIX_UINT32 */
#define KEEL_PMIX_KEY_SILENCE "keel.silence" /* PMIX_UINT64, ns */
#define KEEL_PMIX_KEY_REPEATS "keel.repeats" /* PMIX_UINT32 */

/* PMIX_BYTE_OBJECT, published by a rank: keel_process_t */
#define KEEL_PMIX_KEY_PROCESS "keel.process"

/* PMIX_BYTE_OBJECT of KEEL_AUTH_SECRET bytes: set by keelrun, else published by rank 0 */
#define KEEL_PMIX_KEY_SECRET "keel.secret"

#define KEEL_PMIX_ADDRESS_MAX 65536 /* bytes */

/*
 * Prefix of NAME=VALUE in the reason of an abort with KEEL_EXIT_AGAIN: keelrun restarts the job
 * with this setting.
 */
#define KEELRUN_START_WITH "start with "

/* ---- environment of a rank ---- */
/* set by keelrun: how often this rank was replaced */
#define KEEL_ENV_INCARNATION "KEEL_INCARNATION"
/* the emulated node; present in every process started by keelrun */
#define KEELRUN_ENV_NODE "KEELRUN_NODE"
/* set if each emulated node has a network namespace of its own */
#define KEELRUN_ENV_NETNS "KEELRUN_NETNS"
/* set if keelrun declares dead ranks gone instead of replacing them */
#define KEELRUN_ENV_SHRINK "KEELRUN_SHRINK"
/* CLOCK_MONOTONIC at keelrun's start: zero of keelrun's times */
#define KEELRUN_ENV_START "KEELRUN_START_NS"

#endif
