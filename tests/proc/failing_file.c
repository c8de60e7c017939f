/*
 * A library to preload into ranks: one operation on the files of checkpoints fails, or a process is
 * killed there. Plans hold for first lives in the first job.
 *
 *   KEELTEST_FILE_FAILS=CALL:ERRNO[:N[:RANK]]   the N-th CALL (1; 0: each) of the writer fails, at
 *                                               each rank or at RANK
 *   KEELTEST_START_FAILS, KEELTEST_END_FAILS    the same for calls of the program's thread, before
 *                                               the writer begins and after that
 *   KEELTEST_FILE_WAITS=PATH                    the writer waits at fsync while that file exists
 *   KEELTEST_STOP_WAITS=PATH                    each thread waits while that file exists before the
 *                                               file "stop" is made
 *   KEELTEST_REMOVAL_WAITS=PATH                 the writer waits while that file exists before the
 *                                               removal of a manifest
 *   KEELTEST_THREAD_FAILS=RANK                  a replacement of RANK has no writer at first
 *   KEELTEST_FILE_DIES=RANK:N[:VICTIM]          at the N-th call of the writer of RANK: kills the
 *                                               rank, the launcher (keelrun) or all ranks (job)
 *   KEELTEST_START_DIES, KEELTEST_END_DIES      the same for calls of the program's thread
 *
 * CALL: folder (open of KEEL_FILE_DIR), make (mkdir of KEEL_FILE_DIR), enter (open of a folder
 * within), open (of a new file), look (open of the file of a rank), manifest (open of another
 * file), lock (fcntl), list (readdir), read, write, short (read or write of one byte), flip (write
 * of another last byte), fsync, rename, mkdir, unlink, stat, access; any: each of these but short
 * and flip. A failed call and a death are printed, a death also to the file KEELTEST_DEATHS.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WRITER_NICENESS 19
#define FILES_MAX       4096
#define STREAMS_MAX     16
#define OF_FOLDER       2

typedef struct phase {
    const char *fails, *dies; /* variables */
    int operations, matches;
} phase_t;

static phase_t phases[3] = {{"KEELTEST_START_FAILS", "KEELTEST_START_DIES", 0, 0},
                            {"KEELTEST_FILE_FAILS", "KEELTEST_FILE_DIES", 0, 0},
                            {"KEELTEST_END_FAILS", "KEELTEST_END_DIES", 0, 0}};
static __thread int is_writer;
static int has_writer;
static int sets;                  /* begun by the writer */
static char is_ours[FILES_MAX];   /* descriptors: OF_FOLDER, or of what is in it */
static DIR *streams[STREAMS_MAX]; /* of these descriptors */

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static phase_t *current(void)
{
    return &phases[is_writer ? 1 : has_writer ? 2 : 0];
}

static int is_within(int file)
{
    return file >= 0 && file < FILES_MAX && is_ours[file];
}

static int is_dir(const char *path)
{
    const char *dir = getenv("KEEL_FILE_DIR");

    return dir != NULL && strcmp(dir, path) == 0;
}

/* Reads a file of /proc; the length, or 0. */
static size_t read_proc(long pid, const char *name, char *data, size_t size)
{
    char path[64];
    FILE *file;
    size_t length;

    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    length = fread(data, 1, size - 1, file);
    data[length] = '\0';
    fclose(file);
    return length;
}

/* The launcher: the highest process of that name above this process. */
static long launcher(void)
{
    char stat[512], *end;
    long pid = getppid(), found = 0;

    while (pid > 1 && read_proc(pid, "stat", stat, sizeof stat) > 0 && (end = strrchr(stat, ')')) != NULL) {
        found = (strstr(stat, "(keelrun") != NULL) ? pid : found;
        pid = strtol(end + 4, NULL, 10);
    }
    return found;
}

/* Kills all ranks of the job, this process last. */
static void kill_ranks(void)
{
    const char *job = getenv("PMIX_NAMESPACE");
    DIR *processes = opendir("/proc");
    static char data[1 << 17];
    char wanted[256];
    const struct dirent *entry;

    snprintf(wanted, sizeof wanted, "PMIX_NAMESPACE=%s", job != NULL ? job : "");
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        const long pid = strtol(entry->d_name, NULL, 10);
        const size_t length = (pid > 1 && pid != getpid()) ? read_proc(pid, "environ", data, sizeof data) : 0;

        for (size_t at = 0; at < length; at += strlen(data + at) + 1) {
            if (strcmp(data + at, wanted) == 0) {
                kill((pid_t)pid, SIGKILL);
            }
        }
    }
    raise(SIGKILL);
}

/* Prints the death. A killed launcher passes nothing on, so the line goes to a file, too. */
static void report_death(const char *call)
{
    const char *path = getenv("KEELTEST_DEATHS");
    const int file =
        (path != NULL) ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

    dprintf(2, "planned death: %s, set %d\n", call, sets);
    if (file >= 0) {
        dprintf(file, "planned death: %s, set %d\n", call, sets);
        syscall(SYS_close, file);
    }
}

static void die(const char *victim, const char *call)
{
    const long pid = launcher();

    report_death(call);
    if (strcmp(victim, "rank") == 0) {
        raise(SIGKILL);
    }
    if (pid > 0) {
        kill((pid_t)pid, SIGKILL);
    }
    if (strcmp(victim, "job") == 0) {
        kill_ranks();
    }
}

static int is_first(void)
{
    const char *job = getenv("KEELRUN_JOB"), *life = getenv("KEEL_INCARNATION");

    return job != NULL && strcmp(job, "0") == 0 && (life == NULL || strcmp(life, "0") == 0);
}

static long own_rank(void)
{
    const char *rank = getenv("PMIX_RANK");

    return (rank != NULL) ? strtol(rank, NULL, 10) : -1;
}

/* Returns the errno that the plan has for this call. */
static int planned(phase_t *phase, const char *call)
{
    const char *plan = getenv(phase->fails);
    char wanted[16];
    int error, number = 1, is_any;
    long rank = own_rank();

    if (plan == NULL || !is_first() || sscanf(plan, "%15[a-z]:%d:%d:%ld", wanted, &error, &number, &rank) < 2) {
        return 0;
    }
    is_any = strcmp(wanted, "any") == 0 && strcmp(call, "short") != 0 && strcmp(call, "flip") != 0;
    if (rank != own_rank() || (!is_any && strcmp(wanted, call) != 0) || (++phase->matches != number && number != 0)) {
        return 0;
    }
    dprintf(2, "planned failure: %s, set %d\n", call, sets);
    return error;
}

/* Returns the errno of the failure; 0: the operation succeeds. */
static int fails(const char *call)
{
    phase_t *phase = current();
    const char *plan = getenv(phase->dies);
    char victim[8] = "rank";
    int number, error;
    long rank;

    phase->operations++;
    sets += is_writer && strcmp(call, "mkdir") == 0;
    if (plan != NULL && is_first() && sscanf(plan, "%ld:%d:%7s", &rank, &number, victim) >= 2 && rank == own_rank() &&
        number == phase->operations) {
        die(victim, call);
    }
    error = planned(phase, call);
    errno = (error != 0) ? error : errno;
    return error;
}

static int is_short(void)
{
    return planned(current(), "short") != 0;
}

static int opened(int file, char kind)
{
    if (file >= 0 && file < FILES_MAX) {
        is_ours[file] = kind;
    }
    return file;
}

int setpriority(__priority_which_t which, id_t of, int priority)
{
    int (*call)(__priority_which_t, id_t, int) = (int (*)(__priority_which_t, id_t, int))next("setpriority");

    if (priority == WRITER_NICENESS) {
        is_writer = has_writer = 1;
    }
    return call(which, of, priority);
}

/* The writer is the first thread that a process makes after it has opened KEEL_FILE_DIR. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    int (*call)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))next("pthread_create");
    const char *plan = getenv("KEELTEST_THREAD_FAILS"), *life = getenv("KEEL_INCARNATION");
    static int is_over;

    if (plan == NULL || life == NULL || strcmp(life, "0") == 0 || strtol(plan, NULL, 10) != own_rank() || is_over ||
        memchr(is_ours, OF_FOLDER, sizeof is_ours) == NULL) {
        return call(thread, attributes, routine, argument);
    }
    is_over = 1;
    dprintf(2, "planned failure: thread\n");
    return EAGAIN;
}

int mkdir(const char *path, mode_t mode)
{
    int (*call)(const char *, mode_t) = (int (*)(const char *, mode_t))next("mkdir");

    return (is_dir(path) && fails("make") != 0) ? -1 : call(path, mode);
}

int open(const char *path, int flags, ...)
{
    int (*call)(const char *, int, ...) = (int (*)(const char *, int, ...))next("open");
    va_list arguments;
    unsigned mode;

    va_start(arguments, flags);
    mode = (flags & O_CREAT) ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    if (!is_dir(path)) {
        return call(path, flags, mode);
    }
    return (fails("folder") != 0) ? -1 : opened(call(path, flags, mode), OF_FOLDER);
}

/* Waits while the file exists that the variable names. */
static void pass_gate(const char *name)
{
    const char *gate = getenv(name);

    while (gate != NULL && access(gate, F_OK) == 0) {
        usleep(1000);
    }
}

int openat(int dir, const char *path, int flags, ...)
{
    int (*call)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))next("openat");
    const char *kind = (flags & O_CREAT)                ? "open"
                       : (flags & O_DIRECTORY)          ? "enter"
                       : strncmp(path, "rank-", 5) == 0 ? "look"
                                                        : "manifest";
    va_list arguments;
    unsigned mode;

    va_start(arguments, flags);
    mode = (flags & O_CREAT) ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    if (!is_within(dir)) {
        return call(dir, path, flags, mode);
    }
    if (strcmp(path, "stop") == 0) {
        pass_gate("KEELTEST_STOP_WAITS");
    }
    return (fails(kind) != 0) ? -1 : opened(call(dir, path, flags, mode), 1);
}

int close(int file)
{
    int (*call)(int) = (int (*)(int))next("close");

    if (is_within(file)) {
        is_ours[file] = 0;
    }
    return call(file);
}

int fcntl(int file, int command, ...)
{
    int (*call)(int, int, ...) = (int (*)(int, int, ...))next("fcntl");
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return (command == F_SETLK && is_within(file) && fails("lock") != 0) ? -1 : call(file, command, argument);
}

DIR *fdopendir(int file)
{
    DIR *(*call)(int) = (DIR * (*)(int)) next("fdopendir");
    DIR *stream = call(file);

    for (int i = 0; i < STREAMS_MAX && stream != NULL && is_within(file); i++) {
        if (streams[i] == NULL) {
            streams[i] = stream;
            break;
        }
    }
    return stream;
}

static DIR **stream_within(const DIR *stream)
{
    for (int i = 0; i < STREAMS_MAX; i++) {
        if (streams[i] == stream) {
            return &streams[i];
        }
    }
    return NULL;
}

struct dirent *readdir(DIR *stream)
{
    struct dirent *(*call)(DIR *) = (struct dirent * (*)(DIR *)) next("readdir");

    return (stream_within(stream) != NULL && fails("list") != 0) ? NULL : call(stream);
}

int closedir(DIR *stream)
{
    int (*call)(DIR *) = (int (*)(DIR *))next("closedir");
    DIR **within = stream_within(stream);

    if (within != NULL) {
        is_ours[dirfd(stream)] = 0;
        *within = NULL;
    }
    return call(stream);
}

ssize_t read(int file, void *data, size_t length)
{
    ssize_t (*call)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))next("read");

    if (!is_within(file)) {
        return call(file, data, length);
    }
    return (fails("read") != 0) ? -1 : call(file, data, is_short() ? 1 : length);
}

/* Writes all bytes, the last one with another bit. */
static ssize_t write_flipped(int file, const char *data, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");
    const ssize_t written = (length > 1) ? call(file, data, length - 1) : 0;
    const char last = (char)(data[length - 1] ^ 1);

    if (written != (ssize_t)length - 1) {
        return written;
    }
    return (call(file, &last, 1) == 1) ? (ssize_t)length : -1;
}

ssize_t write(int file, const void *data, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");

    if (!is_within(file)) {
        return call(file, data, length);
    }
    if (planned(current(), "flip") != 0) {
        return write_flipped(file, data, length);
    }
    return (fails("write") != 0) ? -1 : call(file, data, is_short() ? 1 : length);
}

int fsync(int file)
{
    int (*call)(int) = (int (*)(int))next("fsync");

    if (is_writer) {
        pass_gate("KEELTEST_FILE_WAITS");
    }
    return (is_within(file) && fails("fsync") != 0) ? -1 : call(file);
}

int renameat(int from, const char *old, int to, const char *new)
{
    int (*call)(int, const char *, int, const char *) = (int (*)(int, const char *, int, const char *))next("renameat");

    return (is_within(from) && fails("rename") != 0) ? -1 : call(from, old, to, new);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    int (*call)(int, const char *, mode_t) = (int (*)(int, const char *, mode_t))next("mkdirat");

    return (is_within(dir) && fails("mkdir") != 0) ? -1 : call(dir, path, mode);
}

int unlinkat(int dir, const char *path, int flags)
{
    int (*call)(int, const char *, int) = (int (*)(int, const char *, int))next("unlinkat");

    if (is_writer && strcmp(path, "manifest") == 0) {
        pass_gate("KEELTEST_REMOVAL_WAITS");
    }
    return (is_within(dir) && fails("unlink") != 0) ? -1 : call(dir, path, flags);
}

int stat(const char *restrict path, struct stat *restrict about)
{
    int (*call)(const char *, struct stat *) = (int (*)(const char *, struct stat *))next("stat");

    return (is_dir(path) && fails("stat") != 0) ? -1 : call(path, about);
}

/* Looks at the folder depend on the time, and are not counted. */
int fstat(int file, struct stat *about)
{
    int (*call)(int, struct stat *) = (int (*)(int, struct stat *))next("fstat");

    return (is_within(file) && is_ours[file] != OF_FOLDER && fails("stat") != 0) ? -1 : call(file, about);
}

int fstatat(int dir, const char *restrict path, struct stat *restrict about, int flags)
{
    int (*call)(int, const char *, struct stat *, int) =
        (int (*)(int, const char *, struct stat *, int))next("fstatat");

    return (is_within(dir) && fails("stat") != 0) ? -1 : call(dir, path, about, flags);
}

/* Looks for a request depend on the time, and are not counted. */
int faccessat(int dir, const char *path, int mode, int flags)
{
    int (*call)(int, const char *, int, int) = (int (*)(int, const char *, int, int))next("faccessat");

    return (is_within(dir) && strchr(path, '/') != NULL && fails("access") != 0) ? -1 : call(dir, path, mode, flags);
}
