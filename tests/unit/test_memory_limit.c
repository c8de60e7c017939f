/* Memory limits of control groups, read from a tree of files made here. */
#include "base/memory_limit.h"

#include "unit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/keel_memory_limit.XXXXXX";

/* Writes a file below the root, with the folders on the way. */
static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *file;
    char *slash;

    snprintf(path, sizeof path, "%s/%s", root, name);
    for (slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void make_root(void)
{
    strcpy(strrchr(root, '.'), ".XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
    char command[PATH_MAX];

    snprintf(command, sizeof command, "rm -r '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static size_t physical(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

START_TEST(without_groups_it_is_the_machines)
{
    make_root();
    ck_assert_uint_eq(keel_memory_limit(root), physical());
    write_file("proc/self/cgroup", "no line of that form\n7\n");
    ck_assert_uint_eq(keel_memory_limit(root), physical());
    write_file("proc/self/cgroup", "0::/job\n");
    ck_assert_uint_eq(keel_memory_limit(root), physical());
    write_file("sys/fs/cgroup/job/memory.max", "max\n");
    ck_assert_uint_eq(keel_memory_limit(root), physical());
    write_file("sys/fs/cgroup/job/memory.max", "9223372036854771712\n");
    ck_assert_uint_eq(keel_memory_limit(root), physical());
    remove_root();
}
END_TEST

START_TEST(the_smallest_of_all_groups_around_counts)
{
    make_root();
    write_file("proc/self/cgroup", "0::/slurm/job_1/step_0\n");
    write_file("sys/fs/cgroup/slurm/job_1/step_0/memory.max", "3000000\n");
    ck_assert_uint_eq(keel_memory_limit(root), 3000000);
    write_file("sys/fs/cgroup/slurm/job_1/memory.max", "1000000\n");
    ck_assert_uint_eq(keel_memory_limit(root), 1000000);
    write_file("sys/fs/cgroup/slurm/memory.max", "max\n");
    /* limit of a container, with the path / inside */
    write_file("sys/fs/cgroup/memory.max", "2000000\n");
    ck_assert_uint_eq(keel_memory_limit(root), 1000000);
    write_file("proc/self/cgroup", "0::/\n");
    ck_assert_uint_eq(keel_memory_limit(root), 2000000);
    remove_root();
}
END_TEST

START_TEST(the_first_version_is_read_by_its_controller)
{
    make_root();
    write_file("proc/self/cgroup", "12:cpuset,memory_of_others:/a\n4:cpu,memory,pids:/a/b\n0::/\n");
    write_file("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "5000000\n");
    ck_assert_uint_eq(keel_memory_limit(root), 5000000);
    write_file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4000000\n");
    ck_assert_uint_eq(keel_memory_limit(root), 4000000);
    write_file("proc/self/cgroup", "12:cpuset,memory_of_others:/a\n4:pids:/a\n");
    ck_assert_uint_eq(keel_memory_limit(root), physical());
    remove_root();
}
END_TEST

START_TEST(what_others_took_is_not_available)
{
    make_root();
    ck_assert_uint_eq(keel_memory_available(root), SIZE_MAX);
    write_file("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    4000 kB\nSwapFree:      96 kB\n");
    ck_assert_uint_eq(keel_memory_available(root), 4096 << 10);
    write_file("proc/self/cgroup", "0::/job/step\n");
    write_file("sys/fs/cgroup/job/step/memory.max", "max\n");
    write_file("sys/fs/cgroup/job/memory.max", "3000000\n");
    /* no control group says how much of the memory is taken */
    ck_assert_uint_eq(keel_memory_available(root), 4096 << 10);
    write_file("sys/fs/cgroup/job/memory.current", "2000000\n");
    ck_assert_uint_eq(keel_memory_available(root), 1000000);
    write_file("sys/fs/cgroup/job/memory.stat", "anon 700\nfile 900\ninactive_file 300\nactive_file 20\n");
    ck_assert_uint_eq(keel_memory_available(root), 1000320);
    write_file("sys/fs/cgroup/job/memory.current", "3000400\n");
    ck_assert_uint_eq(keel_memory_available(root), 0);
    write_file("proc/self/cgroup", "3:memory:/a\n");
    write_file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000\n");
    write_file("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "900\n");
    write_file("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 9\ntotal_inactive_file 50\ntotal_active_file 1\n");
    ck_assert_uint_eq(keel_memory_available(root), 151);
    remove_root();
}
END_TEST

START_TEST(memory_is_taken_in_parts_as_far_as_it_is_there)
{
    size_t available, part;

    part = keel_memory_part(4096, &available);
    ck_assert_uint_eq(part, 4096);
    ck_assert_uint_gt(available, 0);
    part = keel_memory_part(available / 2, &available);
    ck_assert_uint_gt(part, 0);
    /* other processes take some between two reads */
    ck_assert_uint_le(part, available / 256 + (2 << 20));
    ck_assert_uint_eq(keel_memory_part(2 * physical(), &available), 0);
}
END_TEST

START_TEST(memory_that_is_promised_is_not_lazy)
{
    struct rlimit before, less;

    make_root();
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    ck_assert_int_eq(keel_memory_is_lazy(root), before.rlim_cur == RLIM_INFINITY);
    write_file("proc/sys/vm/overcommit_memory", "1\n");
    ck_assert_int_eq(keel_memory_is_lazy(root), before.rlim_cur == RLIM_INFINITY);
    less = before;
    less.rlim_cur = (rlim_t)1 << 46;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &less), 0);
    ck_assert(!keel_memory_is_lazy(root));
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    write_file("proc/sys/vm/overcommit_memory", "2\n");
    ck_assert(!keel_memory_is_lazy(root));
    remove_root();
}
END_TEST

START_TEST(this_process_may_take_something)
{
    ck_assert_uint_gt(keel_memory_limit(""), 1 << 20);
    ck_assert_uint_le(keel_memory_limit(""), physical());
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {without_groups_it_is_the_machines,
                                  the_smallest_of_all_groups_around_counts,
                                  the_first_version_is_read_by_its_controller,
                                  what_others_took_is_not_available,
                                  memory_is_taken_in_parts_as_far_as_it_is_there,
                                  memory_that_is_promised_is_not_lazy,
                                  this_process_may_take_something,
                                  NULL};

    return unit_run("memory limit", tests);
}
