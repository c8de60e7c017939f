/*
 * Checkpoints in files: names and lists of sets, manifests and every change of one bit, jobs of the
 * writer, detached memory, removal.
 */
#include "files/pace.h"
#include "files/watch.h"
#include "files/writer.h"

#include "base/crc.h"
#include "base/memory.h"
#include "job/files_ask.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];
static int dir;
static keel_folder_t folder;

static void folder_setup(void)
{
    snprintf(path, sizeof(path), "/tmp/keel_files.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
    keel_folder_init(&folder, path, 0);
    ck_assert_int_eq(keel_folder_open(&folder), 0);
    dir = keel_folder_dir(&folder);
}

static void folder_teardown(void)
{
    keel_set_id_t *ids;
    unsigned count;

    ck_assert_int_eq(keel_set_list(dir, &ids, &count), 0);
    for (unsigned i = 0; i < count; i++) {
        ck_assert_int_eq(keel_set_remove(dir, ids[i]), 0);
    }
    keel_free(ids);
    (void)unlinkat(dir, KEEL_FILES_LOCK, 0);
    (void)unlinkat(dir, KEEL_FILES_REQUEST, 0);
    (void)unlinkat(dir, KEEL_FILES_TAKEN, 0);
    keel_folder_close(&folder);
    ck_assert_int_eq(rmdir(path), 0);
}

static keel_set_id_t id_of(uint32_t generation, uint32_t run)
{
    return (keel_set_id_t){.generation = generation, .run = run};
}

/* Waits for the result of a job. */
static keel_write_result_t result_of(keel_writer_t *writer)
{
    keel_write_result_t result;

    while (!keel_writer_take(writer, &result)) {
        usleep(100);
    }
    return result;
}

START_TEST(sets_are_listed_newest_first_and_other_names_are_not)
{
    static const uint32_t generations[] = {7, 4000000000u, 120, 3};
    keel_set_id_t *ids;
    unsigned count;
    int set;

    folder_setup();
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(keel_set_open(dir, id_of(generations[i], 0xabcd), 1, &set), 0);
        close(set);
    }
    ck_assert_int_eq(mkdirat(dir, "set-9", 0777), 0);
    ck_assert_int_eq(mkdirat(dir, "set-9-1", 0777), 0); /* no writer gives this name */
    ck_assert_int_eq(keel_set_list(dir, &ids, &count), 0);
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_eq(ids[0].generation, 4000000000u);
    ck_assert_uint_eq(ids[1].generation, 120);
    ck_assert_uint_eq(ids[3].generation, 3);
    ck_assert_uint_eq(ids[2].run, 0xabcd);
    keel_free(ids);
    ck_assert_int_eq(unlinkat(dir, "set-9", AT_REMOVEDIR), 0);
    ck_assert_int_eq(unlinkat(dir, "set-9-1", AT_REMOVEDIR), 0);
    folder_teardown();
}
END_TEST

/* The result of taking the lock in another process. */
static int lock_elsewhere(void)
{
    const pid_t child = fork();
    int lock, status;

    if (child == 0) {
        _exit(keel_set_dir_lock(dir, &lock));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Another folder takes the place of the open one; the descriptor keeps its number. */
START_TEST(folder_is_opened_and_locked_again)
{
    keel_folder_t leader;
    char away[sizeof(path) + 8], lock[sizeof(away) + 8];
    int number;

    folder_setup();
    keel_folder_init(&leader, path, 1);
    ck_assert_int_eq(keel_folder_open(&leader), 0);
    number = leader.dir;
    ck_assert(!keel_folder_is_gone(&leader));
    snprintf(away, sizeof(away), "%s.away", path);
    ck_assert_int_eq(rename(path, away), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert_int_eq(keel_folder_open(&folder), 0);
    dir = keel_folder_dir(&folder);
    ck_assert_int_eq(lock_elsewhere(), 0); /* the lock in the old folder is not held there */
    ck_assert_int_eq(keel_folder_open(&leader), 0);
    ck_assert_int_eq(leader.dir, number);
    ck_assert_int_eq(faccessat(number, KEEL_FILES_LOCK, F_OK, 0), 0);
    ck_assert_int_eq(lock_elsewhere(), EWOULDBLOCK);
    ck_assert_int_eq(unlinkat(dir, KEEL_FILES_LOCK, 0), 0);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert(keel_folder_is_gone(&leader));
    ck_assert_int_eq(keel_folder_open(&leader), 0); /* makes it */
    ck_assert(!keel_folder_is_gone(&leader));
    ck_assert_int_eq(keel_folder_open(&folder), 0);
    ck_assert_int_eq(lock_elsewhere(), EWOULDBLOCK);
    keel_folder_close(&leader);
    ck_assert_int_eq(lock_elsewhere(), 0);
    folder_teardown();
    snprintf(lock, sizeof(lock), "%s/%s", away, KEEL_FILES_LOCK);
    ck_assert_int_eq(unlink(lock), 0);
    ck_assert_int_eq(rmdir(away), 0);
}
END_TEST

START_TEST(lock_is_one_jobs)
{
    pid_t child;
    int lock;

    folder_setup();
    ck_assert_int_eq(keel_set_dir_lock(dir, &lock), 0);
    ck_assert_int_eq(lock_elsewhere(), EWOULDBLOCK);
    child = fork(); /* a child of the holder does not keep the lock */
    if (child == 0) {
        pause();
    }
    close(lock);
    ck_assert_int_eq(lock_elsewhere(), 0);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    folder_teardown();
}
END_TEST

/* A device that loses bytes: reads find nothing. */
static int write_lost(void *arg, int file)
{
    return keel_set_write_all(file, arg, 8) + ((ftruncate(file, 4) != 0) ? errno : 0);
}

static int verify_kept(void *arg, int file)
{
    char again[8];
    const int error = keel_set_read_all(file, again, sizeof(again));

    return (error == 0 && memcmp(again, arg, sizeof(again)) != 0) ? EBADMSG : error;
}

static int write_kept(void *arg, int file)
{
    return keel_set_write_all(file, arg, 8);
}

START_TEST(file_that_reads_otherwise_gets_no_name)
{
    static char bytes[8] = "contents"; /* no end: not a string */
    keel_set_contents_t contents = {.write = write_lost, .verify = verify_kept, .arg = bytes};
    int set;

    folder_setup();
    ck_assert_int_eq(keel_set_open(dir, id_of(1, 1), 1, &set), 0);
    ck_assert_int_eq(keel_set_write_file(set, "file", &contents), EBADMSG);
    ck_assert_int_ne(faccessat(set, "file", F_OK, 0), 0);
    ck_assert_int_ne(faccessat(set, "file.tmp", F_OK, 0), 0);
    contents.write = write_kept;
    ck_assert_int_eq(keel_set_write_file(set, "file", &contents), 0);
    ck_assert_int_eq(faccessat(set, "file", F_OK, 0), 0);
    close(set);
    folder_teardown();
}
END_TEST

static void manifest_fill(keel_manifest_t *manifest, keel_manifest_file_t *files, uint32_t count)
{
    *manifest = (keel_manifest_t){.id = id_of(120, 0x1f2e3d4c), .count = count, .files = files};
    keel_manifest_set_program(manifest, "a \"program\"");
    for (uint32_t r = 0; r < count; r++) {
        files[r] = (keel_manifest_file_t){.bytes = 1000u + r, .crc = 0x10000000u * r};
    }
}

START_TEST(manifest_is_read_as_written)
{
    keel_manifest_file_t files[3];
    keel_manifest_t manifest, again;
    const char *why;
    int set;

    folder_setup();
    manifest_fill(&manifest, files, 3);
    ck_assert_int_eq(keel_set_open(dir, manifest.id, 1, &set), 0);
    ck_assert_int_eq(keel_manifest_read(set, KEEL_FILES_MANIFEST, &again, &why), ENOENT);
    ck_assert_int_eq(keel_manifest_write(set, &manifest), 0);
    ck_assert_int_eq(keel_manifest_read(set, KEEL_FILES_MANIFEST, &again, &why), 0);
    ck_assert(keel_set_id_is(again.id, manifest.id));
    ck_assert_str_eq(again.program, "a__program_");
    ck_assert_uint_eq(again.count, 3);
    for (unsigned r = 0; r < 3; r++) { /* not the padding */
        ck_assert_uint_eq(again.files[r].bytes, files[r].bytes);
        ck_assert_uint_eq(again.files[r].crc, files[r].crc);
    }
    keel_manifest_release(&again);
    close(set);
    folder_teardown();
}
END_TEST

static ssize_t manifest_bytes(int set, char *text, size_t size)
{
    const int file = openat(set, KEEL_FILES_MANIFEST, O_RDONLY);
    const ssize_t length = read(file, text, size);

    close(file);
    return length;
}

static void manifest_put(int set, const char *text, size_t length)
{
    const int file = openat(set, KEEL_FILES_MANIFEST, O_WRONLY | O_TRUNC);

    ck_assert_int_eq(write(file, text, length), (ssize_t)length);
    close(file);
}

START_TEST(damaged_manifest_is_refused)
{
    keel_manifest_file_t files[2];
    keel_manifest_t manifest;
    char text[512], other[512];
    const char *why;
    ssize_t length;
    int set;

    folder_setup();
    manifest_fill(&manifest, files, 2);
    ck_assert_int_eq(keel_set_open(dir, manifest.id, 1, &set), 0);
    ck_assert_int_eq(keel_manifest_write(set, &manifest), 0);
    length = manifest_bytes(set, text, sizeof(text));
    ck_assert_int_gt(length, 100);
    for (ssize_t i = 0; i < length; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(other, text, (size_t)length);
            other[i] = (char)(other[i] ^ (1 << bit));
            manifest_put(set, other, (size_t)length);
            ck_assert_int_eq(keel_manifest_read(set, KEEL_FILES_MANIFEST, &manifest, &why), EBADMSG);
        }
        manifest_put(set, text, (size_t)i); /* cut off */
        ck_assert_int_eq(keel_manifest_read(set, KEEL_FILES_MANIFEST, &manifest, &why), EBADMSG);
    }
    close(set);
    folder_teardown();
}
END_TEST

START_TEST(writer_writes_what_memory_has)
{
    static uint8_t memory[(5 << 20) + 17];
    keel_write_job_t job = {.kind = KEEL_WRITE_RANK, .id = id_of(5, 1), .rank = 2, .memory = memory};
    static uint8_t read_back[sizeof(memory)];
    keel_write_result_t result;
    keel_writer_t *writer;
    uint64_t random = 1;
    int set, file;

    folder_setup();
    for (size_t i = 0; i < sizeof(memory); i++) {
        memory[i] = (uint8_t)unit_random(&random);
    }
    job.bytes = sizeof(memory);
    ck_assert_int_eq(keel_writer_create(&folder, 0, 0, &writer), KEEL_OK);
    keel_writer_begin(writer, &job);
    ck_assert(keel_writer_is_busy(writer));
    result = result_of(writer);
    ck_assert(!keel_writer_is_busy(writer));
    ck_assert_int_eq(result.error, 0);
    ck_assert_uint_eq(result.crc, keel_crc(0, memory, sizeof(memory)));
    ck_assert_double_gt(result.processor_s, 0);
    ck_assert_int_eq(keel_set_open(dir, job.id, 0, &set), 0);
    file = openat(set, "rank-2", O_RDONLY);
    ck_assert_int_eq(read(file, read_back, sizeof(read_back)), (ssize_t)sizeof(read_back));
    ck_assert_mem_eq(read_back, memory, sizeof(memory));
    close(file);
    close(set);
    keel_writer_destroy(writer);
    folder_teardown();
}
END_TEST

/* The memory changes at once after keel_writer_detach(), at any progress of the thread. */
START_TEST(detached_memory_may_change)
{
    static uint8_t memory[16 << 20];
    const keel_write_job_t job = {
        .kind = KEEL_WRITE_RANK, .id = id_of(5, 1), .memory = memory, .bytes = sizeof(memory)};
    keel_writer_t *writer;
    uint64_t random = 2;
    uint32_t crc;

    folder_setup();
    ck_assert_int_eq(keel_writer_create(&folder, 0, 0, &writer), KEEL_OK);
    for (unsigned round = 0; round < 8; round++) {
        keel_write_result_t result;

        memset(memory, (int)round, sizeof(memory));
        memory[unit_random(&random) % sizeof(memory)]++;
        crc = keel_crc(0, memory, sizeof(memory));
        keel_writer_begin(writer, &job);
        if (round % 2 == 1) {
            usleep((useconds_t)(unit_random(&random) % 3000));
        }
        keel_writer_detach(writer, 5); /* of the same generation: no effect */
        keel_writer_detach(writer, 6);
        memset(memory, 0xee, sizeof(memory));
        result = result_of(writer);
        ck_assert_int_eq(result.error, 0);
        ck_assert_uint_eq(result.crc, crc);
    }
    keel_writer_destroy(writer);
    folder_teardown();
}
END_TEST

static int refuse_copies(void *arg, size_t bytes, const char *name)
{
    (void)arg;
    (void)bytes;
    return strcmp(name, "image for a file") != 0;
}

/* There is no memory for a copy of the image: the image is not written, and may change at once. */
START_TEST(job_without_memory_for_a_copy_is_given_up)
{
    static uint8_t memory[4 << 20];
    static const keel_memory_hook_t hook = {.may_allocate = refuse_copies};
    const keel_write_job_t job = {
        .kind = KEEL_WRITE_RANK, .id = id_of(5, 1), .memory = memory, .bytes = sizeof(memory)};
    keel_writer_t *writer;
    uint64_t bytes;
    int set;

    folder_setup();
    ck_assert_int_eq(keel_writer_create(&folder, 0, 4096, &writer), KEEL_OK);
    keel_writer_begin(writer, &job);
    keel_memory_set_hook(&hook);
    keel_writer_detach(writer, 6);
    keel_memory_set_hook(NULL);
    memset(memory, 0xee, sizeof(memory));
    ck_assert_int_eq(result_of(writer).error, ECANCELED);
    ck_assert_int_eq(keel_set_open(dir, job.id, 1, &set), 0);
    ck_assert_int_eq(keel_set_rank_size(set, 0, &bytes), ENOENT);
    close(set);
    keel_writer_destroy(writer);
    folder_teardown();
}
END_TEST

START_TEST(rate_gives_the_time_of_bytes)
{
    ck_assert_uint_eq(keel_pace_ns(1 << 20, 0), 0);
    ck_assert_uint_eq(keel_pace_ns(0, 4096), 0);
    ck_assert_uint_eq(keel_pace_ns(1 << 20, 1 << 20), 1000000000);
    ck_assert_uint_eq(keel_pace_ns(1 << 20, 256 << 20), 3906250);
    ck_assert_uint_eq(keel_pace_ns(1000, (uint64_t)1 << 44), 0);
    ck_assert_uint_eq(keel_pace_ns(UINT64_MAX, 4096), KEEL_PACE_MAX_NS);
}
END_TEST

/* At the rate the file takes 2048 s. */
START_TEST(hurried_job_does_not_keep_to_the_rate)
{
    static uint8_t memory[8 << 20];
    keel_write_job_t job = {.kind = KEEL_WRITE_RANK, .id = id_of(5, 1), .memory = memory, .bytes = sizeof(memory)};
    keel_writer_t *writer;

    folder_setup();
    ck_assert_int_eq(keel_writer_create(&folder, 0, 4096, &writer), KEEL_OK);
    keel_writer_begin(writer, &job);
    keel_writer_hurry(writer);
    ck_assert_int_eq(result_of(writer).error, 0);
    job.is_hurried = 1;
    job.id = id_of(6, 1);
    keel_writer_begin(writer, &job);
    ck_assert_int_eq(result_of(writer).error, 0);
    job.is_hurried = 0;
    keel_writer_begin(writer, &job);
    keel_writer_destroy(writer); /* ends a pause */
    folder_teardown();
}
END_TEST

/* Makes a set of one small file; @a is_complete: with a manifest. */
static void make_set(keel_writer_t *writer, uint32_t generation, int is_complete, unsigned keep)
{
    static const char contents[] = "contents";
    keel_manifest_file_t file = {.bytes = sizeof(contents), .crc = keel_crc(0, contents, sizeof(contents))};
    const keel_manifest_t manifest = {.id = id_of(generation, 1), .program = "p", .count = 1, .files = &file};
    keel_write_job_t job = {.kind = KEEL_WRITE_RANK, .id = manifest.id, .memory = contents, .bytes = sizeof(contents)};

    keel_writer_begin(writer, &job);
    ck_assert_int_eq(result_of(writer).error, 0);
    if (is_complete) {
        job = (keel_write_job_t){.kind = KEEL_WRITE_MANIFEST, .id = manifest.id, .manifest = &manifest};
        keel_writer_begin(writer, &job);
        ck_assert_int_eq(result_of(writer).error, 0);
        job = (keel_write_job_t){.kind = KEEL_WRITE_PRUNE, .id = manifest.id, .keep = keep};
        keel_writer_begin(writer, &job);
        ck_assert_int_eq(result_of(writer).remove_error, 0);
    }
}

static void make_set_for_request(keel_writer_t *writer, uint32_t generation)
{
    keel_manifest_file_t file;
    const keel_manifest_t manifest = {.id = id_of(generation, 1), .program = "p", .count = 1, .files = &file};
    const keel_write_job_t job = {
        .kind = KEEL_WRITE_MANIFEST, .id = manifest.id, .manifest = &manifest, .meets_request = 1};

    make_set(writer, generation, 0, 2);
    file = (keel_manifest_file_t){.bytes = sizeof("contents")};
    keel_writer_begin(writer, &job);
    ck_assert_int_eq(result_of(writer).error, 0);
}

static unsigned sets_left(uint32_t *generations, unsigned most)
{
    keel_set_id_t *ids;
    unsigned count;

    ck_assert_int_eq(keel_set_list(dir, &ids, &count), 0);
    ck_assert_uint_le(count, most);
    for (unsigned i = 0; i < count; i++) {
        generations[i] = ids[i].generation;
    }
    keel_free(ids);
    return count;
}

START_TEST(complete_set_replaces_older_ones)
{
    const keel_write_job_t prune = {.kind = KEEL_WRITE_PRUNE, .keep = UINT_MAX};
    uint32_t left[8];
    keel_writer_t *writer;

    folder_setup();
    ck_assert_int_eq(keel_writer_create(&folder, 0, 0, &writer), KEEL_OK);
    make_set(writer, 10, 1, 2);
    make_set(writer, 20, 1, 2);
    make_set(writer, 25, 0, 2);
    ck_assert_uint_eq(sets_left(left, 8), 3);
    make_set(writer, 30, 1, 2);
    ck_assert_uint_eq(sets_left(left, 8), 2); /* 10 and the incomplete 25 are gone */
    ck_assert_uint_eq(left[0], 30);
    ck_assert_uint_eq(left[1], 20);
    ck_assert_int_eq(keel_set_mark(dir, id_of(30, 1), KEEL_FILES_ENDED), 0);
    ck_assert_int_eq(keel_set_has(dir, id_of(30, 1), KEEL_FILES_MANIFEST), 0);
    make_set(writer, 5, 1, 1); /* an ended set is removed; an older set may have a higher number */
    ck_assert_uint_eq(sets_left(left, 8), 2);
    ck_assert_uint_eq(left[0], 20);
    make_set(writer, 40, 0, 2);
    keel_writer_begin(writer, &prune);
    ck_assert_int_eq(result_of(writer).remove_error, 0);
    ck_assert_uint_eq(sets_left(left, 8), 2);
    keel_writer_destroy(writer);
    folder_teardown();
}
END_TEST

static void await_request(const keel_writer_t *writer, int is_requested)
{
    while (keel_writer_is_requested(writer) != is_requested) {
        usleep(1000);
    }
}

static int has_file(const char *name)
{
    return faccessat(dir, name, F_OK, 0) == 0;
}

START_TEST(request_is_seen_and_met)
{
    keel_writer_t *writer;

    folder_setup();
    ck_assert_int_eq(keel_writer_create(&folder, 1, 0, &writer), KEEL_OK);
    ck_assert(!keel_writer_is_requested(writer));
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    await_request(writer, 1);
    ck_assert(!has_file(KEEL_FILES_REQUEST) && has_file(KEEL_FILES_TAKEN));
    make_set(writer, 10, 1, 2); /* of another reason */
    ck_assert(keel_writer_is_requested(writer) && has_file(KEEL_FILES_TAKEN));
    make_set_for_request(writer, 20);
    ck_assert(!has_file(KEEL_FILES_TAKEN));
    await_request(writer, 0);
    keel_writer_destroy(writer);
    folder_teardown();
}
END_TEST

/* The second request waits for a later set. */
START_TEST(request_amid_a_set_stays)
{
    keel_writer_t *writer;

    folder_setup();
    ck_assert_int_eq(keel_writer_create(&folder, 1, 0, &writer), KEEL_OK);
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    await_request(writer, 1);
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    make_set(writer, 10, 0, 2);
    ck_assert(has_file(KEEL_FILES_REQUEST) && has_file(KEEL_FILES_TAKEN));
    make_set_for_request(writer, 20);
    await_request(writer, 1);
    ck_assert(!has_file(KEEL_FILES_REQUEST) && has_file(KEEL_FILES_TAKEN));
    make_set_for_request(writer, 30);
    await_request(writer, 0);
    keel_writer_destroy(writer);
    folder_teardown();
}
END_TEST

/* A folder that cannot be read is no folder without requests. */
START_TEST(failed_look_changes_nothing)
{
    const keel_folder_t unreadable = {.dir = -1};
    keel_looks_t watch = {.looks = 0};

    folder_setup();
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_STOP), 0);
    keel_watch_look(&watch, &folder, 1);
    ck_assert(watch.is_requested && watch.is_stopping && watch.looks == 1);
    keel_watch_look(&watch, &unreadable, 2);
    ck_assert(watch.is_requested && watch.is_stopping && watch.looks == 1);
    ck_assert_int_eq(unlinkat(dir, KEEL_FILES_STOP, 0), 0);
    keel_watch_look(&watch, &folder, 3);
    ck_assert(watch.is_requested && !watch.is_stopping && watch.looks == 2);
    folder_teardown();
}
END_TEST

/* What another job is asked for is no request of a leader that lacks the lock. */
START_TEST(leader_without_the_lock_sees_no_request)
{
    keel_looks_t watch = {.looks = 0};

    folder_setup();
    folder.is_leader = 1;
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_STOP), 0);
    keel_watch_look(&watch, &folder, 1);
    ck_assert(!watch.is_requested && !watch.is_stopping && watch.looks == 0 && has_file(KEEL_FILES_REQUEST));
    ck_assert_int_eq(keel_folder_open(&folder), 0);
    keel_watch_look(&watch, &folder, 2);
    ck_assert(watch.is_requested && watch.is_stopping && watch.looks == 1 && has_file(KEEL_FILES_TAKEN));
    folder.is_locked = 0; /* as after another folder has taken its place */
    keel_watch_look(&watch, &folder, 3);
    ck_assert(!watch.is_requested && !watch.is_stopping && watch.looks == 1);
    ck_assert_int_eq(unlinkat(dir, KEEL_FILES_STOP, 0), 0);
    folder_teardown();
}
END_TEST

/* The file of a met request cannot be removed: the request does not come again, and a newer one
 * does. */
START_TEST(met_request_whose_file_stays_does_not_come_again)
{
    const keel_folder_t unreadable = {.dir = -1};
    keel_looks_t watch = {.looks = 0};

    folder_setup();
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    keel_watch_look(&watch, &folder, 1);
    ck_assert(watch.is_requested);
    ck_assert_int_eq(keel_watch_met(&watch, &unreadable), EBADF);
    keel_watch_look(&watch, &unreadable, 2);
    ck_assert(!watch.is_requested);
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    keel_watch_look(&watch, &folder, 3);
    ck_assert(watch.is_requested);
    ck_assert_int_eq(keel_watch_met(&watch, &unreadable), EBADF);
    keel_watch_look(&watch, &folder, 4);
    ck_assert(!watch.is_requested && !has_file(KEEL_FILES_TAKEN));
    folder_teardown();
}
END_TEST

START_TEST(request_is_met_by_later_generations_only)
{
    keel_files_ask_t ask = {.is_open = 0};

    ck_assert(!keel_files_ask_is_met(&ask, 5));
    keel_files_ask_look(&ask, 1, 7, 1000);
    ck_assert(!keel_files_ask_is_met(&ask, 7));
    keel_files_ask_look(&ask, 1, 9, 2000); /* the first look counts */
    ck_assert(keel_files_ask_is_met(&ask, 8));
    keel_files_ask_look(&ask, 0, 9, 3000);
    ck_assert(!keel_files_ask_is_met(&ask, 10));
    keel_files_ask_look(&ask, 1, 10, 4000);
    ck_assert(!keel_files_ask_is_met(&ask, 10) && keel_files_ask_is_met(&ask, 11));
}
END_TEST

/* A replacement of rank 0 sees the request before the generation that is in use; a rollback leads
 * back. */
START_TEST(request_waits_for_the_generation_in_use)
{
    keel_files_ask_t ask = {.is_open = 0};

    keel_files_ask_look(&ask, 1, UINT32_MAX, 1000);
    ck_assert(!keel_files_ask_is_met(&ask, 50));
    ck_assert(keel_files_ask_is_late(&ask, 60000000000 + 1000, 60));
    keel_files_ask_look(&ask, 1, 50, 2000);
    ck_assert(!keel_files_ask_is_met(&ask, 50) && keel_files_ask_is_met(&ask, 51));
    keel_files_ask_look(&ask, 1, UINT32_MAX, 3000);
    keel_files_ask_look(&ask, 1, 20, 4000);
    ck_assert(!keel_files_ask_is_met(&ask, 20) && keel_files_ask_is_met(&ask, 21));
    ck_assert(keel_files_ask_is_late(&ask, 60000000000 + 1000, 60)); /* the time goes on */
}
END_TEST

START_TEST(request_is_late_after_its_time)
{
    keel_files_ask_t ask = {.is_open = 0};

    ck_assert(!keel_files_ask_is_late(&ask, 100000000000, 60));
    keel_files_ask_look(&ask, 1, 1, 1000);
    ck_assert(!keel_files_ask_is_late(&ask, 59999999999 + 1000, 60));
    ck_assert(keel_files_ask_is_late(&ask, 60000000000 + 1000, 60));
    ck_assert(!keel_files_ask_is_late(&ask, UINT64_MAX, 0)); /* no limit */
}
END_TEST

/* The leader's writer marks complete sets at the end of the program, and not without the lock. */
START_TEST(sets_are_marked_at_the_end)
{
    const keel_set_id_t id = id_of(10, 1);
    keel_folder_t leader;
    keel_writer_t *writer;

    folder_setup();
    ck_assert_int_eq(keel_writer_create(&folder, 0, 0, &writer), KEEL_OK);
    make_set(writer, 10, 1, 2);
    keel_writer_destroy(writer);
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_STOP), 0);
    keel_folder_init(&leader, path, 1);
    ck_assert_int_eq(keel_folder_open(&leader), 0);
    for (int is_locked = 0; is_locked <= 1; is_locked++) {
        leader.is_locked = is_locked;
        ck_assert_int_eq(keel_writer_create(&leader, 1, 0, &writer), KEEL_OK);
        keel_writer_leave(writer, 1);
        while (!keel_writer_join(writer, 1000000)) {
        }
        ck_assert_int_eq(keel_writer_folder_end(writer).error, (is_locked ? 0 : ENOLCK));
        ck_assert_int_eq(keel_set_has(dir, id, KEEL_FILES_MANIFEST), !is_locked);
        ck_assert_int_eq(keel_set_has(dir, id, KEEL_FILES_ENDED), is_locked);
        ck_assert_int_eq(has_file(KEEL_FILES_STOP), !is_locked);
        keel_writer_destroy(writer);
    }
    keel_folder_close(&leader);
    folder_teardown();
}
END_TEST

/* A pipe that no process reads holds the thread in write(), as a file system that does not answer.
 * After the thread was given up, no set is marked, and a request stays for the next job. */
START_TEST(writer_that_was_given_up_leaves_the_folder_alone)
{
    static uint8_t memory[1 << 20], drained[1 << 16];
    const keel_set_id_t marked = id_of(10, 1);
    const keel_write_job_t job = {
        .kind = KEEL_WRITE_RANK, .id = id_of(20, 1), .memory = memory, .bytes = sizeof(memory)};
    char name[KEEL_FILES_NAME_MAX], pipe_path[2 * KEEL_FILES_NAME_MAX];
    keel_folder_t leader;
    keel_writer_t *writer;
    int set, pipe;

    folder_setup();
    keel_folder_init(&leader, path, 1);
    ck_assert_int_eq(keel_folder_open(&leader), 0);
    ck_assert_int_eq(keel_writer_create(&leader, 1, 0, &writer), KEEL_OK);
    make_set(writer, 10, 1, 2);
    ck_assert_int_eq(keel_set_open(dir, job.id, 1, &set), 0);
    close(set);
    keel_set_name(job.id, name);
    snprintf(pipe_path, sizeof(pipe_path), "%s/rank-0.tmp", name);
    ck_assert_int_eq(mkfifoat(dir, pipe_path, 0600), 0);
    pipe = openat(dir, pipe_path, O_RDONLY | O_NONBLOCK);
    keel_writer_begin(writer, &job);
    while (read(pipe, drained, 1) != 1) { /* the thread is in its job */
    }
    keel_writer_leave(writer, 1);
    ck_assert_int_eq(keel_writer_join(writer, 1000000), 0);
    ck_assert_int_eq(keel_set_dir_ask(dir, KEEL_FILES_REQUEST), 0);
    keel_writer_give_up(writer);
    while (!keel_writer_join(writer, 1000000)) {
        (void)!read(pipe, drained, sizeof(drained));
    }
    ck_assert_int_eq(keel_set_has(dir, marked, KEEL_FILES_MANIFEST), 1);
    ck_assert(has_file(KEEL_FILES_REQUEST) && !has_file(KEEL_FILES_TAKEN));
    keel_writer_destroy(writer);
    close(pipe);
    keel_folder_close(&leader);
    folder_teardown();
}
END_TEST

/* The thread may be anywhere in its job. */
START_TEST(writer_ends_amid_a_job)
{
    static uint8_t memory[8 << 20];
    const keel_write_job_t job = {
        .kind = KEEL_WRITE_RANK, .id = id_of(5, 1), .memory = memory, .bytes = sizeof(memory)};
    keel_writer_t *writer;

    folder_setup();
    for (unsigned round = 0; round < 10; round++) {
        ck_assert_int_eq(keel_writer_create(&folder, 0, 0, &writer), KEEL_OK);
        keel_writer_begin(writer, &job);
        usleep(200 * round);
        keel_writer_destroy(writer);
    }
    keel_writer_destroy(NULL);
    folder_teardown();
}
END_TEST

int main(void)
{
    const TTest *tests[] = {sets_are_listed_newest_first_and_other_names_are_not,
                            folder_is_opened_and_locked_again,
                            lock_is_one_jobs,
                            file_that_reads_otherwise_gets_no_name,
                            manifest_is_read_as_written,
                            damaged_manifest_is_refused,
                            writer_writes_what_memory_has,
                            detached_memory_may_change,
                            job_without_memory_for_a_copy_is_given_up,
                            rate_gives_the_time_of_bytes,
                            hurried_job_does_not_keep_to_the_rate,
                            complete_set_replaces_older_ones,
                            request_is_seen_and_met,
                            request_amid_a_set_stays,
                            failed_look_changes_nothing,
                            leader_without_the_lock_sees_no_request,
                            met_request_whose_file_stays_does_not_come_again,
                            request_is_met_by_later_generations_only,
                            request_waits_for_the_generation_in_use,
                            request_is_late_after_its_time,
                            sets_are_marked_at_the_end,
                            writer_that_was_given_up_leaves_the_folder_alone,
                            writer_ends_amid_a_job,
                            NULL};

    return unit_run("files", tests);
}
