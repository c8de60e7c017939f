/* A request for a checkpoint by a process outside the job, where the file system does not tell. */
#include "files/asked.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* faccessat() of a file in a folder fails with ELOOP if the folder is a link to itself */
static void make_unreadable(int dir, keel_set_id_t id)
{
    char name[KEEL_FILES_NAME_MAX];

    keel_set_name(id, name);
    ck_assert_int_eq(symlinkat(name, dir, name), 0);
    ck_assert_int_eq(keel_set_has(dir, id, KEEL_FILES_MANIFEST), -ELOOP);
}

static void make_complete(int dir, keel_set_id_t id)
{
    int set;

    ck_assert_int_eq(keel_set_open(dir, id, 1, &set), 0);
    ck_assert_int_eq(keel_set_dir_ask(set, KEEL_FILES_MANIFEST), 0);
    close(set);
}

/* The request is gone, and the look at the only new set fails: a later look tells. A set that was
 * there before the request is never the met one. */
START_TEST(request_is_awaited_while_the_file_system_does_not_tell)
{
    const keel_set_id_t old = {.generation = 3, .run = 1}, new = {.generation = 7, .run = 1};
    char path[] = "/tmp/keel_asked.XXXXXX", name[KEEL_FILES_NAME_MAX];
    keel_asked_t asked;

    ck_assert_ptr_nonnull(mkdtemp(path));
    asked.dir = open(path, O_RDONLY | O_DIRECTORY);
    make_unreadable(asked.dir, old);
    close(asked.dir);
    ck_assert_int_eq(keel_asked_begin(&asked, path), 0);
    ck_assert_int_eq(keel_asked_look(&asked), KEEL_ASKED_AWAITED);
    ck_assert_int_eq(unlinkat(asked.dir, KEEL_FILES_REQUEST, 0), 0);
    ck_assert_int_eq(keel_asked_look(&asked), KEEL_ASKED_LOST);
    make_unreadable(asked.dir, new);
    ck_assert_int_eq(keel_asked_look(&asked), KEEL_ASKED_AWAITED);
    keel_set_name(new, name);
    ck_assert_int_eq(unlinkat(asked.dir, name, 0), 0);
    make_complete(asked.dir, new);
    ck_assert_int_eq(keel_asked_look(&asked), KEEL_ASKED_COMPLETE);
    ck_assert_int_eq(keel_set_mark(asked.dir, new, KEEL_FILES_ENDED), 0);
    ck_assert_int_eq(keel_asked_look(&asked), KEEL_ASKED_COMPLETE);
    ck_assert_int_eq(keel_set_remove(asked.dir, new), 0);
    keel_set_name(old, name);
    ck_assert_int_eq(unlinkat(asked.dir, name, 0), 0);
    keel_asked_end(&asked);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {request_is_awaited_while_the_file_system_does_not_tell, NULL};

    return unit_run("asked", tests);
}
