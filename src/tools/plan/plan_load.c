#include "plan_load.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEL_PLAN_FILE_MAX (1 << 20)

/*
 * Finds an installed machine. Returns 1 if found. Looks beside the program first, so that a moved
 * installation finds its own files.
 */
static int keel_plan_find(const char *name, char *path, size_t max)
{
    char program[PATH_MAX];
    ssize_t length;
    char *slash;
    int i;

    length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        for (i = 0; (i < 2) && ((slash = strrchr(program, '/')) != NULL); i++) {
            *slash = '\0';
        }
        if ((snprintf(path, max, "%s/share/keel/machines/%s.machine", program, name) < (int)max) &&
            (access(path, R_OK) == 0)) {
            return 1;
        }
    }
    return (snprintf(path, max, "%s/%s.machine", KEEL_PLAN_MACHINES, name) < (int)max) && (access(path, R_OK) == 0);
}

int keel_plan_read_file(const char *path, const char *what, size_t max, char *text, size_t *len_p, FILE *errors)
{
    struct stat st;
    FILE *stream;
    int failed;

    stream = fopen(path, "rb");
    if ((stream == NULL) || (fstat(fileno(stream), &st) != 0) || S_ISDIR(st.st_mode)) {
        fprintf(errors, "keel_plan: cannot read %s: %s\n", path, (stream == NULL) ? strerror(errno) : "not a file");
        if (stream != NULL) {
            fclose(stream);
        }
        return -1;
    }
    *len_p = fread(text, 1, max + 1, stream);
    failed = ferror(stream);
    fclose(stream);
    if (failed || (*len_p > max)) {
        fprintf(errors, "keel_plan: cannot read %s: ", path);
        fprintf(errors, failed ? "input error\n" : "longer than %zu MiB, so not %s\n", max >> 20, what);
        return -1;
    }
    return 0;
}

int keel_plan_machine_load(const char *name, keel_plan_machine_t *machine, FILE *errors)
{
    keel_plan_error_t error;
    char path[PATH_MAX], *text;
    size_t len;
    int rc;

    if ((strchr(name, '/') != NULL) || (access(name, F_OK) == 0)) {
        snprintf(path, sizeof path, "%s", name);
    } else if (!keel_plan_find(name, path, sizeof path)) {
        fprintf(errors,
                "keel_plan: no machine '%s': neither a file nor installed in ../share/keel/machines beside the "
                "program, nor in %s\n",
                name, KEEL_PLAN_MACHINES);
        return -1;
    }
    text = keel_alloc(KEEL_PLAN_FILE_MAX + 1, "plan file");
    if (text == NULL) {
        fprintf(errors, "keel_plan: not enough memory\n");
        return -1;
    }
    rc = keel_plan_read_file(path, "a machine file", KEEL_PLAN_FILE_MAX, text, &len, errors);
    if (rc == 0) {
        rc = keel_plan_machine_parse(text, len, machine, &error);
        if ((rc != 0) && (error.line > 0)) {
            fprintf(errors, "keel_plan: %s:%u: %s\n", path, error.line, error.text);
        } else if (rc != 0) {
            fprintf(errors, "keel_plan: %s: %s\n", path, error.text);
        }
    }
    keel_free(text);
    return rc;
}
