/*
 * The launcher of attach.c: starts the ranks, kills some at random moments, reports deaths and
 * exits on the board, and starts a replacement for each dead rank.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "attach_board.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static board_t *board;
static char **program;
static int board_fd;
static pid_t pid[RANKS_MAX];
static uint32_t life[RANKS_MAX];

static void usage(FILE *out)
{
    fprintf(out, "Usage: attach_launch [-n RANKS] [-N NODES] [-k KILLS] [-s SEED] PROGRAM\n"
                 "  -n RANKS  processes to start, 2 to 8 (4)\n"
                 "  -N NODES  nodes that the ranks are told to run on (1)\n"
                 "  -k KILLS  ranks to kill by SIGKILL, one after another (0)\n"
                 "  -s SEED   of the ranks and moments of the kills (1); printed\n");
}

static int start(uint32_t rank)
{
    char fd_text[16], rank_text[16], life_text[16];
    char *const args[] = {program[0], fd_text, rank_text, life_text, NULL};

    snprintf(fd_text, sizeof(fd_text), "%d", board_fd);
    snprintf(rank_text, sizeof(rank_text), "%u", rank);
    snprintf(life_text, sizeof(life_text), "%u", life[rank]);
    pid[rank] = fork();
    if (pid[rank] == 0) {
        execv(program[0], args);
        perror(program[0]);
        _exit(127);
    }
    return pid[rank] > 0;
}

static int have_met(void)
{
    return __atomic_load_n(&board->arrived[1], __ATOMIC_ACQUIRE) == board->size;
}

static int end_all(const char *why)
{
    fprintf(stderr, "attach_launch: %s\n", why);
    for (uint32_t r = 0; r < board->size; r++) {
        if (pid[r] > 0) {
            (void)kill(pid[r], SIGKILL);
            (void)waitpid(pid[r], NULL, 0);
        }
    }
    return 1;
}

/*
 * Steps completed by all ranks, in their present lives. Kills go by steps, not by time: a rank dies
 * after the replacement of the last victim has reached new steps, since parity covers one death.
 */
static uint32_t steps_done(void)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t r = 0; r < board->size; r++) {
        const uint32_t steps = __atomic_load_n(&board->steps[r], __ATOMIC_RELAXED);

        least = (steps < least) ? steps : least;
    }
    return least;
}

static int run(unsigned kills)
{
    uint32_t left = board->size, next_step = 1 + (uint32_t)rand() % 20, victim = (uint32_t)rand() % board->size;
    int is_dying = 0;

    for (uint32_t r = 0; r < board->size; r++) {
        if (!start(r)) {
            return end_all("cannot fork");
        }
    }
    while (left > 0) {
        int status;
        const pid_t ended = waitpid(-1, &status, WNOHANG);

        for (uint32_t r = 0; ended > 0 && r < board->size; r++) {
            if (pid[r] != ended) {
                continue;
            }
            pid[r] = 0;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                board_report(board, BOARD_EXIT, r, life[r]);
                left--;
            } else if (!have_met()) {
                return end_all("a rank died before all had met: nothing was computed");
            } else if (WIFEXITED(status)) {
                return end_all("a rank failed");
            } else {
                board_report(board, BOARD_DEATH, r, life[r]);
                life[r]++;
                __atomic_store_n(&board->steps[r], 0, __ATOMIC_RELAXED);
                is_dying = 0;
                if (life[r] == LIVES_MAX || !start(r)) {
                    return end_all("a rank died too often");
                }
            }
        }
        if (kills > 0 && !is_dying && steps_done() >= next_step && pid[victim] > 0) {
            printf("attach_launch: kills rank %u, life %u, after step %u\n", victim, life[victim], steps_done());
            (void)kill(pid[victim], SIGKILL);
            is_dying = 1;
            next_step = steps_done() + 1 + (uint32_t)rand() % 20;
            victim = (uint32_t)rand() % board->size;
            kills--;
        }
        usleep(500);
    }
    return 0;
}

int main(int argc, char **argv)
{
    unsigned ranks = 4, nodes = 1, kills = 0, seed = 1;
    int option, status;

    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return 0;
    }
    while ((option = getopt(argc, argv, "+n:N:k:s:h")) != -1) {
        switch (option) {
        case 'n':
            ranks = (unsigned)atoi(optarg);
            break;
        case 'N':
            nodes = (unsigned)atoi(optarg);
            break;
        case 'k':
            kills = (unsigned)atoi(optarg);
            break;
        case 's':
            seed = (unsigned)atoi(optarg);
            break;
        case 'h':
            usage(stdout);
            return 0;
        default:
            usage(stderr);
            return 2;
        }
    }
    program = argv + optind;
    board_fd = memfd_create("attach", 0);
    if (program[0] == NULL || ranks < 2 || ranks > RANKS_MAX || nodes < 1 || nodes > ranks || board_fd < 0 ||
        ftruncate(board_fd, sizeof(*board)) != 0) {
        usage(stderr);
        return 2;
    }
    board = (board_t *)mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, board_fd, 0);
    if (board == MAP_FAILED || getrandom(board->secret, sizeof(board->secret), 0) != sizeof(board->secret)) {
        return 1;
    }
    board->size = ranks;
    board->nodes = nodes;
    srand(seed);
    printf("attach_launch: seed %u\n", seed);
    fflush(stdout);
    status = run(kills);
    printf("attach_launch: %s\n", (status == 0) ? "all ranks have left" : "failed");
    return status;
}
