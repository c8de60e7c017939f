/*
 * A rank of the tests of keelrun and of runtime/pmix: the program uses the runtime's table only,
 * and checks the events. Each incarnation's address is a pattern of its rank and incarnation, so a
 * wrong or mixed-up address is detected.
 */
#include <base/config.h>
#include <runtime/pmix.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* longer than any test: a lost event causes a failure, not a hang */
#define CLIENT_WAIT_NS     (60 * 1000000000ull)
#define CLIENT_ADDRESS_MAX 4096

typedef struct peer {
    int deaths; /* incarnations below this are dead */
    int joined; /* latest incarnation announced */
    int has_left;
} peer_t;

typedef struct client {
    keel_runtime_t *runtime;
    const keel_runtime_ops_t *ops;
    peer_t *peers;
    unsigned deaths, joins, exits;
} client_t;

static void client_fail(const client_t *client, const char *what, uint32_t rank, uint32_t incarnation)
{
    printf("rank %u.%u FAILED: %s (%u.%u)\n", client->runtime->rank, client->runtime->incarnation, what, rank,
           incarnation);
    fflush(stdout);
    _exit(9);
}

static size_t client_pattern(uint32_t rank, uint32_t incarnation, unsigned char *address)
{
    size_t length = (100 + 517 * rank + 1013 * incarnation) % (CLIENT_ADDRESS_MAX + 1);

    for (size_t i = 0; i < length; i++) {
        address[i] = (unsigned char)(rank * 31 + incarnation * 7 + i);
    }
    return length;
}

static void client_check_address(const client_t *client, uint32_t rank, uint32_t incarnation, const void *address,
                                 size_t length)
{
    unsigned char expected[CLIENT_ADDRESS_MAX];

    if (length != client_pattern(rank, incarnation, expected) || memcmp(address, expected, length) != 0) {
        client_fail(client, "wrong address", rank, incarnation);
    }
}

static void client_on_death(client_t *client, const keel_event_t *event)
{
    peer_t *peer = &client->peers[event->rank];
    int died = (int)event->incarnation;

    if (died < peer->deaths) {
        client_fail(client, "a death was announced twice", event->rank, event->incarnation);
    }
    if (died > peer->deaths && client->runtime->incarnation == 0) {
        client_fail(client, "a death before this one was not announced", event->rank, event->incarnation);
    }
    peer->deaths = died + 1;
    client->deaths++;
}

static void client_on_join(client_t *client, const keel_event_t *event)
{
    peer_t *peer = &client->peers[event->rank];

    if ((int)event->incarnation != peer->deaths) {
        client_fail(client, "join before the death of the one before, or twice", event->rank, event->incarnation);
    }
    client_check_address(client, event->rank, event->incarnation, event->address, event->address_len);
    peer->joined = (int)event->incarnation;
    client->joins++;
}

static void client_take_events(client_t *client)
{
    keel_event_t event;

    while (client->ops->poll(client->runtime, &event)) {
        if (event.rank == client->runtime->rank || event.rank >= client->runtime->size) {
            client_fail(client, "an event of this or no rank", event.rank, event.incarnation);
        }
        if (event.type == KEEL_EVENT_DEATH) {
            client_on_death(client, &event);
        } else if (event.type == KEEL_EVENT_JOIN) {
            client_on_join(client, &event);
        } else {
            client->peers[event.rank].has_left = 1;
            client->exits++;
        }
    }
}

static int client_replacements(const client_t *client)
{
    int sum = 0;

    for (uint32_t rank = 0; rank < client->runtime->size; rank++) {
        sum += client->peers[rank].joined;
    }
    return sum;
}

/* Rank 0 leaves after this number of replacements (never: < 0), the other ranks when rank 0 has
 * left. */
static void client_watch(client_t *client, int replacements)
{
    const struct timespec nap = {.tv_nsec = 200000};
    uint64_t deadline = client->ops->now_ns(client->runtime) + CLIENT_WAIT_NS;

    for (;;) {
        client_take_events(client);
        if (client->runtime->rank == 0 ? replacements >= 0 && client_replacements(client) >= replacements
                                       : client->peers[0].has_left) {
            return;
        }
        if (client->ops->now_ns(client->runtime) > deadline) {
            client_fail(client, "waited too long", 0, 0);
        }
        nanosleep(&nap, NULL);
    }
}

static void client_die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

/* "RANK.COUNT.PLACE,...": incarnations of the rank below COUNT kill themselves at that place. early
 * is the start of the first incarnation, first the same in a job that was never restarted; start,
 * opened and announced are places in later incarnations. */
static void client_maybe_die(const char *plan, uint32_t rank, uint32_t incarnation, const char *place)
{
    unsigned victim, count;
    char where[16];

    for (; plan != NULL; plan = strchr(plan, ','), plan += plan != NULL) {
        if (sscanf(plan, "%u.%u.%15[a-z]", &victim, &count, where) == 3 && victim == rank && incarnation < count &&
            strcmp(where, place) == 0) {
            client_die();
        }
    }
}

static void client_meet(client_t *client, const char *plan)
{
    keel_runtime_t *runtime = client->runtime;
    unsigned char address[CLIENT_ADDRESS_MAX];
    size_t length = client_pattern(runtime->rank, runtime->incarnation, address);

    if (client->ops->announce(runtime, address, length) != KEEL_OK) {
        client_fail(client, "announce", runtime->rank, runtime->incarnation);
    }
    for (uint32_t rank = 0; rank < runtime->size && runtime->incarnation == 0; rank++) {
        void *found;

        if (client->ops->lookup(runtime, rank, &found, &length) != KEEL_OK) {
            client_fail(client, "lookup", rank, 0);
        }
        client_check_address(client, rank, 0, found, length);
        free(found);
    }
    if (runtime->incarnation > 0) {
        client_maybe_die(plan, runtime->rank, runtime->incarnation, "announced");
    }
}

static void client_print(const client_t *client)
{
    const keel_runtime_t *runtime = client->runtime;

    printf("rank %u.%u of %u on node %u: %u deaths, %u joins, %u exits\n", runtime->rank, runtime->incarnation,
           runtime->size, runtime->node[runtime->rank], client->deaths, client->joins, client->exits);
    fflush(stdout);
}

static keel_status_t client_prepare_nothing(void *arg, const uint64_t *bytes, unsigned count)
{
    (void)arg;
    (void)bytes;
    (void)count;
    return KEEL_OK;
}

/* The job is over for all ranks. The last rank waits to be killed; the others leave when its death
 * is known. */
static void client_finish(client_t *client)
{
    const struct timespec nap = {.tv_nsec = 200000};

    client->ops->finish(client->runtime);
    if (client->runtime->rank == client->runtime->size - 1) {
        pause();
    }
    while (client->deaths == 0) {
        client_take_events(client);
        nanosleep(&nap, NULL);
    }
}

/* client MODE NUMBER [PLAN]: watch REPLACEMENTS; abort RANK (-1: all); exit STATUS (of the last
 * rank); desert; finish */
int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "watch", *plan = argc > 3 ? argv[3] : NULL;
    int number = argc > 2 ? atoi(argv[2]) : 0;
    client_t client = {.ops = &keel_runtime_pmix_ops};
    const char *spares = getenv("KEEL_SPARES");
    keel_config_t config = {.spares = spares != NULL ? (unsigned)atoi(spares) : 0};
    const char *rank_text = getenv("PMIX_RANK"), *incarnation_text = getenv("KEEL_INCARNATION");
    const char *job_text = getenv("KEELRUN_JOB");

    if (rank_text != NULL && incarnation_text != NULL) {
        client_maybe_die(plan, (uint32_t)atoi(rank_text), (uint32_t)atoi(incarnation_text),
                         strcmp(incarnation_text, "0") == 0 ? "early" : "start");
        if (job_text != NULL && strcmp(job_text, "0") == 0) {
            client_maybe_die(plan, (uint32_t)atoi(rank_text), (uint32_t)atoi(incarnation_text), "first");
        }
    }
    if (client.ops->open(&config, &client.runtime) != KEEL_OK) {
        return 8;
    }
    if (client.runtime->is_spare && client.ops->await_rank(client.runtime, client_prepare_nothing, NULL) != KEEL_OK) {
        client.ops->close(client.runtime);
        return 0;
    }
    client.peers = calloc(client.runtime->size, sizeof *client.peers);
    if (client.runtime->incarnation > 0) {
        client_maybe_die(plan, client.runtime->rank, client.runtime->incarnation, "opened");
    }
    client_meet(&client, plan);
    printf("rank %u.%u is there\n", client.runtime->rank, client.runtime->incarnation);
    fflush(stdout);
    if (strcmp(mode, "abort") == 0 && (number < 0 || (uint32_t)number == client.runtime->rank)) {
        client.ops->abort(client.runtime, 1, "the reason\nin two lines");
    }
    if (client.runtime->rank == client.runtime->size - 1) {
        if (strcmp(mode, "exit") == 0) {
            return number;
        }
        if (strcmp(mode, "desert") == 0) {
            return 0;
        }
    }
    if (strcmp(mode, "finish") == 0) {
        client_finish(&client);
    } else {
        client_watch(&client, strcmp(mode, "watch") == 0 ? number : -1);
    }
    client_print(&client);
    client.ops->close(client.runtime);
    free(client.peers);
    return 0;
}
