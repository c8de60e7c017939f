/*
 * A runtime for tests that attach Keel: the parent forks RANKS ranks, which share a board, and
 * replaces killed ranks. Included once in each program.
 */
#ifndef ATTACH_HOST_H_
#define ATTACH_HOST_H_

#include <keel/runtime.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 4, LIVES = 4, JOBS = 2, GATHERS = 4, EVENTS = 64, ROOM = KEEL_ATTACH_ADDRESS_MAX + 16 };

typedef struct {
    uint32_t length; /* written last */
    char bytes[ROOM];
} address_t;

typedef struct {
    uint32_t arrived[GATHERS];
    char gather[GATHERS][RANKS][ROOM];
    address_t address[RANKS][LIVES];
    uint32_t events;
    struct {
        uint32_t type, rank, incarnation; /* type: 1 + keel_attach_event_type_t, written last */
    } event[EVENTS];
} job_t;

static struct {
    job_t job[JOBS];
    uint32_t leaves, finishes;
    pid_t pid[RANKS];
} * board;

static const char *mode;
static pid_t launcher;
static uint32_t rank, life, job_number, gathers, taken, fails_at = UINT32_MAX;
static keel_status_t fails_with = KEEL_ERR_RUNTIME;
static uint32_t left = RANKS, lives[RANKS], deaths; /* of the launcher */

static inline void end_all(void)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (board->pid[r] > 0) {
            (void)kill(board->pid[r], SIGKILL);
        }
    }
}

static inline void must_be(int is_right, const char *condition, int line)
{
    if (!is_right) {
        fprintf(stderr, "attach: %s: rank %u, line %d: %s\n", mode, rank, line, condition);
        if (getpid() == launcher) {
            end_all();
        }
        _exit(1);
    }
}

#define must(_condition) must_be((_condition), #_condition, __LINE__)

static inline int is_mode(const char *name)
{
    return strcmp(mode, name) == 0;
}

/* ---- callbacks of Keel ---- */

static inline void report(job_t *job, keel_attach_event_type_t type, uint32_t of, uint32_t incarnation)
{
    const uint32_t entry = __atomic_fetch_add(&job->events, 1, __ATOMIC_SEQ_CST);

    must(entry < EVENTS);
    job->event[entry].rank = of;
    job->event[entry].incarnation = incarnation;
    __atomic_store_n(&job->event[entry].type, 1 + (uint32_t)type, __ATOMIC_RELEASE);
}

static inline keel_status_t give_address(const void *mine, size_t length)
{
    address_t *address = &board->job[job_number].address[rank][life];

    must(length <= sizeof(address->bytes));
    memcpy(address->bytes, mine, length);
    __atomic_store_n(&address->length, (uint32_t)length, __ATOMIC_RELEASE);
    return KEEL_OK;
}

static inline keel_status_t on_exchange(void *arg, const void *mine, void *all, size_t length)
{
    job_t *job = &board->job[job_number];
    const uint32_t gather = gathers++;

    must(arg == board && length <= ROOM);
    if (all == NULL) {
        (void)give_address(mine, length);
        report(job, KEEL_ATTACH_JOIN, rank, life);
        return KEEL_OK;
    }
    if (gather == fails_at) {
        return fails_with;
    }
    must(gather < GATHERS && life == 0);
    memcpy(job->gather[gather][rank], mine, length);
    __atomic_fetch_add(&job->arrived[gather], 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&job->arrived[gather], __ATOMIC_ACQUIRE) < RANKS) {
        usleep(100);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        memcpy((char *)all + r * length, job->gather[gather][r], length);
    }
    return KEEL_OK;
}

static inline int on_poll(void *arg, keel_attach_event_t *event_p)
{
    const job_t *job = &board->job[job_number];
    const uint32_t type = (taken < EVENTS) ? __atomic_load_n(&job->event[taken].type, __ATOMIC_ACQUIRE) : 0;

    must(arg == NULL || arg == board);
    if (type == 0) {
        return 0;
    }
    event_p->type = (keel_attach_event_type_t)(type - 1);
    event_p->rank = job->event[taken].rank;
    event_p->incarnation = job->event[taken].incarnation;
    event_p->address = job->address[event_p->rank][event_p->incarnation].bytes;
    event_p->address_length = job->address[event_p->rank][event_p->incarnation].length;
    taken++;
    return 1;
}

static inline void on_leave(void *arg)
{
    must(arg == board);
    __atomic_fetch_add(&board->leaves, 1, __ATOMIC_RELAXED);
}

static inline void on_finish(void *arg)
{
    must(arg == board);
    __atomic_fetch_add(&board->finishes, 1, __ATOMIC_RELAXED);
}

/* The table with exchange and poll. */
static inline keel_attach_t host_table(void)
{
    return (keel_attach_t){.struct_size = sizeof(keel_attach_t),
                           .arg = board,
                           .rank = rank,
                           .size = RANKS,
                           .incarnation = life,
                           .secret = "sixteen bytes or more",
                           .secret_length = 21,
                           .exchange = on_exchange,
                           .poll = on_poll,
                           .leave = on_leave,
                           .finish = on_finish};
}

/* ---- the launcher ---- */

/* Memory of the launcher and all ranks, zeroed. */
static inline void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    must(memory != MAP_FAILED);
    return memory;
}

static inline void start(uint32_t of, uint32_t incarnation, void (*program)(void))
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    must(pid >= 0);
    if (pid == 0) {
        rank = of;
        life = incarnation;
        program();
        exit(0);
    }
    board->pid[of] = pid;
}

/* Reports the death of a rank to job number of_job, and starts the next life. */
static inline void replace(uint32_t of, uint32_t of_job, void (*program)(void))
{
    deaths++;
    report(&board->job[of_job], KEEL_ATTACH_DEATH, of, lives[of]);
    start(of, ++lives[of], program);
}

/* ended() is called for each process that ends, and counts down the ranks that are left. */
static inline void launch(void (*program)(void), void (*ended)(uint32_t of, int status))
{
    launcher = getpid();
    board = shared_memory(sizeof(*board));
    for (uint32_t r = 0; r < RANKS; r++) {
        start(r, 0, program);
    }
    while (left > 0) {
        int status;
        const pid_t pid = wait(&status);
        uint32_t r = 0;

        while (r < RANKS && board->pid[r] != pid) {
            r++;
        }
        must(r < RANKS);
        board->pid[r] = 0;
        ended(r, status);
    }
}

#endif
