/*
 * Reaction of keelrun to ranks and nodes accused of silence, with real processes in every state but
 * their own program.
 */
#include "job.h"
#include "report.h"

#include "unit.h"

#include <runtime/starved.h>

#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 4, NODES = 2, ACCUSER = 1, SUSPECT = 2, OTHER = 3, NODE = 1 };

#define LONG_AGO_NS (600 * 1000000000ull)

typedef struct scene {
    options_t options;
    job_rank_t ranks[RANKS];
    job_node_t nodes[NODES];
    job_t job;
} scene_t;

/* A process that always uses a core. */
static pid_t busy_process(void)
{
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    while (pid == 0) {
        __asm__ volatile("");
    }
    return pid;
}

static pid_t stopped_process(void)
{
    const pid_t pid = busy_process();

    kill(pid, SIGSTOP);
    ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
    return pid;
}

/* A dead process that no parent has waited for. */
static pid_t dead_process(void)
{
    const pid_t pid = busy_process();
    siginfo_t end;

    kill(pid, SIGKILL);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT), 0);
    return pid;
}

static int is_alive(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

static void expect_killed(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* All ranks met long ago; the accuser and the suspect are on two nodes. */
static void scene_set(scene_t *scene, pid_t suspect, pid_t node)
{
    memset(scene, 0, sizeof *scene);
    scene->options.ranks = RANKS;
    scene->options.nodes = NODES;
    scene->job = (job_t){.options = &scene->options, .ranks = scene->ranks, .nodes = scene->nodes, .met_ns = 1};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        scene->ranks[rank] = (job_rank_t){.state = RANK_RUNNING, .node = rank / 2, .pidfd = -1};
    }
    scene->ranks[SUSPECT].pid = suspect;
    scene->ranks[SUSPECT].pidfd = pidfd_open(suspect, 0);
    scene->nodes[NODE].pid = node;
}

static void accuse_as(scene_t *scene, uint32_t accuser, uint32_t heard, uint32_t repeats)
{
    const message_t message = {.type = MESSAGE_SUSPECT, .rank = SUSPECT};
    const suspicion_t suspicion = {
        .accuser = accuser, .heard = heard, .live = RANKS, .repeats = repeats, .silence_ns = 1};

    job_on_suspicion(&scene->job, &message, &suspicion);
}

static void accuse(scene_t *scene, uint32_t repeats)
{
    accuse_as(scene, ACCUSER, RANKS - 1, repeats);
}

START_TEST(stopped_suspect_is_killed_at_once)
{
    const pid_t suspect = stopped_process();
    scene_t scene;

    scene_set(&scene, suspect, 0);
    accuse(&scene, 0);
    ck_assert(scene.ranks[SUSPECT].is_killed && scene.ranks[SUSPECT].fenced_ns != 0);
    ck_assert(!scene.ranks[SUSPECT].must_move); /* the network of the suspect works */
    expect_killed(suspect);
}
END_TEST

/* The network device of the accuser failed. The kill needs no second accuser, and no check for a
 * core. */
START_TEST(rank_that_accuses_itself_is_killed_at_once_and_moves)
{
    const pid_t suspect = busy_process();
    scene_t scene;

    scene_set(&scene, suspect, 0);
    accuse_as(&scene, SUSPECT, 1, UINT32_MAX);
    ck_assert(scene.ranks[SUSPECT].is_killed && scene.ranks[SUSPECT].must_move && job_is_suspect(&scene.job, NODE));
    ck_assert(!scene.ranks[SUSPECT].is_accuser);
    expect_killed(suspect);
}
END_TEST

/* A rank that reaches no peer does not return to its node, even if no other node is left. */
START_TEST(rank_that_reaches_no_other_does_not_come_back_there)
{
    const pid_t suspect = busy_process();
    scene_t scene;

    scene_set(&scene, suspect, 0);
    accuse_as(&scene, SUSPECT, 1, UINT32_MAX);
    expect_killed(suspect);
    ck_assert(job_move_rank(&scene.job, &scene.ranks[SUSPECT]));
    ck_assert_uint_ne(scene.ranks[SUSPECT].node, NODE);
    scene.ranks[SUSPECT].node = NODE;
    scene.nodes[1 - NODE].has_failed = true;
    ck_assert(!job_move_rank(&scene.job, &scene.ranks[SUSPECT]));
    /* a node that was only silent takes ranks again if no other is left */
    scene.nodes[NODE].has_failed = false;
    ck_assert(job_move_rank(&scene.job, &scene.ranks[SUSPECT]));
    ck_assert_uint_eq(scene.ranks[SUSPECT].node, NODE);
}
END_TEST

/* Whether the suspect holds a core at the cost of others depends on the machine. */
START_TEST(busy_suspect_is_killed_not_at_once_but_in_the_end)
{
    const pid_t suspect = busy_process();
    scene_t scene;

    scene_set(&scene, suspect, 0);
    accuse(&scene, 0);
    ck_assert(!scene.ranks[SUSPECT].is_killed && !job_is_suspect(&scene.job, NODE));
    ck_assert(is_alive(suspect));
    for (uint32_t repeats = 1; repeats <= KEEL_REPRIEVES_MAX; repeats++) {
        accuse(&scene, repeats);
    }
    ck_assert(scene.ranks[SUSPECT].is_killed && scene.ranks[SUSPECT].must_move && scene.nodes[NODE].suspected_ns != 0);
    expect_killed(suspect);
}
END_TEST

/* Two ranks of the node: one was silent, was killed, and moved; then the other is accused, or
 * not. */
static void scene_set_suspect(scene_t *scene, pid_t other, pid_t node, uint64_t suspected_ns)
{
    scene_set(scene, other, node);
    scene->ranks[OTHER].node = 1 - NODE;
    scene->ranks[OTHER].started_ns = suspected_ns + 1;
    scene->nodes[NODE].suspected_ns = suspected_ns;
    scene->nodes[NODE].silence_ns = LONG_AGO_NS / 10;
}

START_TEST(node_with_other_ranks_alive_is_not_suspect)
{
    const uint64_t now = clock_now_ns();
    const pid_t other = busy_process();
    scene_t scene;

    scene_set_suspect(&scene, other, 0, now);
    ck_assert(job_is_suspect(&scene.job, NODE)); /* the other ranks may still be accused */
    scene_set_suspect(&scene, other, 0, now - LONG_AGO_NS);
    ck_assert(!job_is_suspect(&scene.job, NODE));
    scene.ranks[SUSPECT].started_ns = now - 1; /* no rank was there all the time */
    ck_assert(job_is_suspect(&scene.job, NODE));
    scene.ranks[SUSPECT].started_ns = 0;
    scene.nodes[NODE].has_failed = true;
    ck_assert(job_is_suspect(&scene.job, NODE));
    kill(other, SIGKILL);
    expect_killed(other);
}
END_TEST

/* A second silent rank soon after makes keelrun kill the node; long after, that rank counts as the
 * first. */
START_TEST(suspect_node_is_killed_for_the_second_of_its_ranks)
{
    for (int is_late = 0; is_late < 2; is_late++) {
        const pid_t other = busy_process(), node = busy_process();
        scene_t scene;

        scene_set_suspect(&scene, other, node, clock_now_ns() - (is_late ? LONG_AGO_NS : 0));
        for (uint32_t repeats = 0; repeats <= KEEL_REPRIEVES_MAX; repeats++) {
            accuse(&scene, repeats);
        }
        ck_assert(scene.ranks[SUSPECT].is_killed && scene.ranks[SUSPECT].must_move == is_late);
        expect_killed(other);
        if (is_late) {
            ck_assert(is_alive(node));
            kill(node, SIGKILL);
        }
        expect_killed(node);
    }
}
END_TEST

/* A rank was killed, and its node does not report the end of the rank. */
static void scene_set_late(scene_t *scene, pid_t rank, pid_t node)
{
    scene_set(scene, rank, node);
    scene->ranks[SUSPECT].is_killed = true;
    scene->ranks[SUSPECT].fenced_ns = clock_now_ns() - LONG_AGO_NS;
}

START_TEST(stopped_node_that_does_not_wait_is_killed)
{
    const pid_t rank = dead_process(), node = stopped_process();
    scene_t scene;

    scene_set_late(&scene, rank, node);
    job_check_fencing(&scene.job);
    ck_assert(scene.ranks[SUSPECT].fenced_ns == 0);
    expect_killed(node);
    expect_killed(rank);
}
END_TEST

START_TEST(busy_node_that_does_not_wait_is_killed_not_at_once_but_in_the_end)
{
    const pid_t rank = dead_process(), node = busy_process();
    scene_t scene;

    scene_set_late(&scene, rank, node);
    job_check_fencing(&scene.job);
    ck_assert(scene.ranks[SUSPECT].fenced_ns != 0 && is_alive(node));
    for (unsigned looks = 0; looks < KEEL_REPRIEVES_MAX; looks++) {
        job_check_fencing(&scene.job);
    }
    ck_assert(scene.ranks[SUSPECT].fenced_ns == 0);
    expect_killed(node);
    expect_killed(rank);
}
END_TEST

/* The rank may have much memory to free. */
START_TEST(node_of_an_ending_rank_is_killed_in_the_end_only)
{
    const pid_t rank = busy_process(), node = stopped_process();
    scene_t scene;

    scene_set_late(&scene, rank, node);
    job_check_fencing(&scene.job);
    ck_assert(scene.ranks[SUSPECT].fenced_ns != 0 && is_alive(node));
    for (unsigned looks = 0; looks < KEEL_REPRIEVES_MAX; looks++) {
        job_check_fencing(&scene.job);
    }
    ck_assert(scene.ranks[SUSPECT].fenced_ns == 0);
    expect_killed(node);
    kill(rank, SIGKILL);
    expect_killed(rank);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        stopped_suspect_is_killed_at_once,
        rank_that_accuses_itself_is_killed_at_once_and_moves,
        rank_that_reaches_no_other_does_not_come_back_there,
        busy_suspect_is_killed_not_at_once_but_in_the_end,
        node_with_other_ranks_alive_is_not_suspect,
        suspect_node_is_killed_for_the_second_of_its_ranks,
        stopped_node_that_does_not_wait_is_killed,
        busy_node_that_does_not_wait_is_killed_not_at_once_but_in_the_end,
        node_of_an_ending_rank_is_killed_in_the_end_only,
        NULL,
    };

    return unit_run("fence", tests);
}
