/*
 * Reads the result files of a rehearsal, one per rank, and reports the rehearsed and the missing
 * ranks.
 */
#include "rehearsal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <base/rehearse_file.h>

#include "report.h"

#define REHEARSAL_PATH_MAX 512
#define REHEARSAL_NAMES    8 /* ranks reported by name; others are counted */

typedef struct rehearsal_rank {
    bool is_checksum, is_killed, is_different, is_rolled_back;
    uint32_t killed_before; /* rollbacks before the kill */
    uint32_t different_in;  /* phase */
    uint32_t same;          /* phases compared */
} rehearsal_rank_t;

typedef struct rehearsal_names {
    char text[REHEARSAL_NAMES * 12];
    uint32_t count;
} rehearsal_names_t;

static void rehearsal_path(char *path, const char *session)
{
    snprintf(path, REHEARSAL_PATH_MAX, "%s/rehearsal", session);
}

bool rehearsal_prepare(const char *session)
{
    char path[REHEARSAL_PATH_MAX];

    rehearsal_path(path, session);
    if (mkdir(path, S_IRWXU) != 0) {
        report("cannot make the directory '%s': %s", path, strerror(errno));
        return false;
    }
    setenv("KEEL_REHEARSE", path, 1);
    return true;
}

static void rehearsal_take(rehearsal_rank_t *rank, char kind, uint32_t incarnation, uint32_t rollback, uint32_t phase)
{
    if (kind == KEEL_REHEARSE_KILLED) {
        rank->is_killed = true;
        rank->killed_before = rollback;
    } else if (kind == KEEL_REHEARSE_CHECKSUM) {
        rank->is_checksum = true;
    } else if (kind == KEEL_REHEARSE_SAME) {
        rank->same++;
    } else if (kind == KEEL_REHEARSE_DIFFERENT) {
        rank->is_different = true;
        rank->different_in = phase;
    }
    rank->is_rolled_back |= rank->is_killed && incarnation > 0 && rollback > rank->killed_before && rank->same == 0;
}

/* Reads the file of a rank. No file: the rank has not completed keel_init(). */
static rehearsal_rank_t rehearsal_read(const char *session, uint32_t number)
{
    uint32_t incarnation, rollback, phase;
    char path[REHEARSAL_PATH_MAX + 32], text[256], kind;
    rehearsal_rank_t rank = {0};
    FILE *file;

    rehearsal_path(path, session);
    snprintf(path + strlen(path), 32, "/rank.%u", number);
    file = fopen(path, "re");
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        if (sscanf(text, "%c %u %u %u", &kind, &incarnation, &rollback, &phase) == 4) {
            rehearsal_take(&rank, kind, incarnation, rollback, phase);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return rank;
}

static void rehearsal_name(rehearsal_names_t *names, uint32_t rank)
{
    size_t length = strlen(names->text);

    if (names->count++ < REHEARSAL_NAMES) {
        snprintf(names->text + length, sizeof names->text - length, "%s%u", length > 0 ? ", " : "", rank);
    }
}

static void rehearsal_print_names(const rehearsal_names_t *names, const char *what)
{
    if (names->count > REHEARSAL_NAMES) {
        report("rehearsal: ranks %s and %u more %s", names->text, names->count - REHEARSAL_NAMES, what);
    } else if (names->count > 0) {
        report("rehearsal: rank%s %s %s", names->count == 1 ? "" : "s", names->text, what);
    }
}

int rehearsal_report(const options_t *options, const char *session, int status)
{
    rehearsal_names_t spared = {0}, rolled_back = {0}, cut_short = {0};
    uint32_t ranks = 0, killed = 0, same = 0, different = 0;

    for (uint32_t i = 0; i < options->ranks; i++) {
        const rehearsal_rank_t rank = rehearsal_read(session, i);

        ranks += !rank.is_checksum;
        killed += rank.is_killed;
        same += rank.same;
        if (rank.is_different) {
            report(
                "rehearsal: rank %u did not do again in phase %u what it had done before: it says above what differs",
                i, rank.different_in);
            different++;
        } else if (!rank.is_killed && !rank.is_checksum) {
            rehearsal_name(&spared, i);
        } else if (rank.is_rolled_back) {
            rehearsal_name(&rolled_back, i);
        } else if (rank.is_killed && rank.same == 0) {
            rehearsal_name(&cut_short, i);
        }
    }
    if (different == 0) {
        rehearsal_print_names(&spared, status != 0 ? "never killed"
                                                   : "never killed: the job is too short (two ranks take four gsyncs)");
        rehearsal_print_names(&rolled_back, "killed, and all rolled back: nothing was re-executed alone");
        rehearsal_print_names(&cut_short, "killed, and the job ended before a phase was re-executed");
    }
    report("rehearsal: %u of %u ranks were killed and re-executed %u phases: %s", killed, ranks, same,
           different > 0 ? "different"
           : status != 0 ? "the job failed"
           : same > 0    ? "no difference"
                         : "nothing was compared");
    return different > 0 ? KEELRUN_STATUS_DIFFERENT : status == 0 && same == 0 ? KEELRUN_STATUS_NOT_REHEARSED : status;
}
