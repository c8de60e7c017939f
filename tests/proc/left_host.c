/*
 * The traces of Keel in a host process: compares signals, environment, limits, open files and
 * threads before keel_init() with those after keel_finalize(), and prints each difference.
 * Meanwhile, and after that, checks that UCX still reports an error of the program's own context.
 * left_host [attached]: the same of keel_init_attached(), in ranks that this program forks.
 */
#define _GNU_SOURCE /* environ */
#include "attach_host.h"

#include <dirent.h>
#include <locale.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucp/api/ucp.h>

enum { FILES_MAX = 1024, NAME_MAX_LEN = 128, ENVIRONMENT_MAX = 1 << 16, SIGNALS = 64, THREADS_MAX = 64 };

typedef struct host {
    struct sigaction actions[SIGNALS + 1];
    sigset_t mask;
    char environment[ENVIRONMENT_MAX];
    struct rlimit limits[RLIM_NLIMITS];
    char files[FILES_MAX][NAME_MAX_LEN]; /* by descriptor */
    int threads[THREADS_MAX];            /* numbers, 0: no more */
    mode_t umask;
    char folder[512], locale[256];
} host_t;

static host_t before, after;
static int bad;

static void look_at_files(host_t *host)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    char path[300];

    while ((entry = readdir(folder)) != NULL) {
        const int fd = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && fd != dirfd(folder) && fd < FILES_MAX) {
            snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
            if (readlink(path, host->files[fd], NAME_MAX_LEN - 1) < 0) {
                host->files[fd][0] = '\0';
            }
        }
    }
    closedir(folder);
}

static void look(host_t *host)
{
    size_t used = 0;
    char **variable;
    struct dirent *task;
    int i, count = 0;
    DIR *tasks;

    for (i = 1; i <= SIGNALS; i++) {
        (void)sigaction(i, NULL, &host->actions[i]); /* fails for signals of the C library's own */
    }
    pthread_sigmask(SIG_SETMASK, NULL, &host->mask);
    for (variable = environ; *variable != NULL; variable++) {
        used += (size_t)snprintf(host->environment + used, ENVIRONMENT_MAX - used, "%s\n", *variable);
        if (used >= ENVIRONMENT_MAX) {
            fprintf(stderr, "guest: the environment is too long for this test\n");
            exit(1);
        }
    }
    for (i = 0; i < (int)RLIM_NLIMITS; i++) {
        getrlimit((__rlimit_resource_t)i, &host->limits[i]);
    }
    look_at_files(host);
    tasks = opendir("/proc/self/task");
    while ((task = readdir(tasks)) != NULL && count + 1 < THREADS_MAX) {
        host->threads[count] = atoi(task->d_name);
        count += host->threads[count] != 0; /* not . and .. */
    }
    host->threads[count] = 0;
    closedir(tasks);
    host->umask = umask(0);
    umask(host->umask);
    if (getcwd(host->folder, sizeof host->folder) == NULL) {
        host->folder[0] = '\0';
    }
    snprintf(host->locale, sizeof host->locale, "%s", setlocale(LC_ALL, NULL));
}

static void compare(const char *what, int number, const char *was, const char *is)
{
    if (strcmp(was, is) != 0) {
        fprintf(stderr, "guest: %s %d was '%s' and is '%s'\n", what, number, was, is);
        bad = 1;
    }
}

static void compare_numbers(const char *what, int number, unsigned long was, unsigned long is)
{
    if (was != is) {
        fprintf(stderr, "guest: %s %d was %#lx and is %#lx\n", what, number, was, is);
        bad = 1;
    }
}

/* Reports variables of `some` that `others` lacks or has with another value. PMIx keeps settings of
 * its own in the environment, but an attached process does not open PMIx. */
static void compare_variables(const char *what, const char *some, const char *others)
{
    char line[ENVIRONMENT_MAX];
    size_t length;

    for (; *some != '\0'; some += length + 1) {
        length = strcspn(some, "\n");
        snprintf(line, sizeof line, "%.*s\n", (int)length, some);
        if ((is_mode("attached") || strncmp(line, "PMIX_MCA_", strlen("PMIX_MCA_")) != 0) &&
            strstr(others, line) == NULL) {
            fprintf(stderr, "guest: variable %s: %.*s\n", what, (int)strcspn(line, "="), line);
            bad = 1;
        }
    }
}

/* No thread may be left. A thread of UCX's own may have ended, as where /tmp cannot be watched. */
static void compare_threads(void)
{
    int i, j;

    for (i = 0; after.threads[i] != 0; i++) {
        for (j = 0; before.threads[j] != 0 && before.threads[j] != after.threads[i]; j++) {
        }
        compare_numbers("thread", i, (unsigned long)before.threads[j], (unsigned long)after.threads[i]);
    }
}

/* A bit for each signal of the set. */
static unsigned long blocked(const sigset_t *set)
{
    unsigned long bits = 0;
    int i;

    for (i = 1; i <= SIGNALS; i++) {
        bits |= (unsigned long)(sigismember(set, i) == 1) << (i - 1);
    }
    return bits;
}

static void compare_hosts(void)
{
    int i;

    for (i = 1; i <= SIGNALS; i++) {
        compare_numbers("handler of signal", i, (unsigned long)before.actions[i].sa_handler,
                        (unsigned long)after.actions[i].sa_handler);
        compare_numbers("flags of the handler of signal", i, (unsigned long)before.actions[i].sa_flags,
                        (unsigned long)after.actions[i].sa_flags);
        compare_numbers("mask of the handler of signal", i, blocked(&before.actions[i].sa_mask),
                        blocked(&after.actions[i].sa_mask));
        compare_numbers("mask of signal", i, (unsigned long)sigismember(&before.mask, i),
                        (unsigned long)sigismember(&after.mask, i));
    }
    for (i = 0; i < (int)RLIM_NLIMITS; i++) {
        compare_numbers("limit", i, before.limits[i].rlim_cur, after.limits[i].rlim_cur);
        compare_numbers("hard limit", i, before.limits[i].rlim_max, after.limits[i].rlim_max);
    }
    for (i = 0; i < FILES_MAX; i++) {
        compare("file", i, before.files[i], after.files[i]);
    }
    compare_variables("lost", before.environment, after.environment);
    compare_variables("new", after.environment, before.environment);
    compare("folder", 0, before.folder, after.folder);
    compare("locale", 0, before.locale, after.locale);
    compare_numbers("umask", 0, before.umask, after.umask);
    compare_threads();
}

/* True if UCX logs an error of the program's own context: an unknown transport, which UCX
 * reports. */
static int hears_of_its_own_errors(void)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA};
    const int saved = dup(STDOUT_FILENO);
    FILE *file = tmpfile();
    ucp_context_h context;
    ucp_config_t *config;
    char line[512];
    int is_reported = 0;

    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    if (ucp_config_read(NULL, NULL, &config) == UCS_OK) {
        ucp_config_modify(config, "TLS", "none_such");
        if (ucp_init(&params, config, &context) == UCS_OK) {
            ucp_cleanup(context);
        }
        ucp_config_release(config);
    }
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        is_reported |= (strstr(line, "UCX") != NULL && strstr(line, "ERROR") != NULL);
    }
    fclose(file);
    return is_reported;
}

static void must_hear_of_errors(const char *when)
{
    if (!hears_of_its_own_errors()) {
        fprintf(stderr, "guest: UCX is silent about an error of the program's own context %s\n", when);
        bad = 1;
    }
}

static keel_status_t open_keel(keel_context_h *ctx_p)
{
    if (is_mode("attached")) {
        const keel_attach_t table = host_table();

        return keel_init_attached(&table, NULL, ctx_p);
    }
    return keel_init(NULL, ctx_p);
}

static int use_keel(void)
{
    keel_context_h ctx;
    keel_win_h win;

    if (open_keel(&ctx) != KEEL_OK || keel_win_alloc(ctx, 4096, NULL, &win) != KEEL_OK) {
        return -1;
    }
    must_hear_of_errors("beside Keel");
    if (keel_put(win, (keel_rank(ctx) + 1) % keel_size(ctx), 0, &bad, sizeof bad) != KEEL_OK ||
        keel_gsync(ctx, 0) != KEEL_OK || keel_finalize(ctx) != KEEL_OK) {
        return -1;
    }
    return 0;
}

static void be_a_host(void)
{
    struct sigaction own = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART | SA_NODEFER};

    sigaddset(&own.sa_mask, SIGUSR2);
    (void)sigaction(SIGUSR1, &own, NULL);
    setenv("GUEST", "as it was", 1);
    look(&before);
    if (use_keel() != 0) {
        fprintf(stderr, "guest: a call failed\n");
        exit(1);
    }
    look(&after);
    compare_hosts();
    must_hear_of_errors("after Keel");
    exit(bad);
}

static void ended(uint32_t of, int status)
{
    must(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    report(&board->job[0], KEEL_ATTACH_EXIT, of, 0);
    left--;
}

int main(int argc, char **argv)
{
    mode = (argc == 2) ? argv[1] : "";
    if (!is_mode("attached")) {
        be_a_host();
    }
    launch(be_a_host, ended);
    printf("left_host: attached: right\n");
    return 0;
}
