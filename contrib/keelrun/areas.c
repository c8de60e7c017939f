/* Collects the areas of a job. */
#include "areas.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace/trace_folder.h>

#include "report.h"

enum { AREAS_TRACE, AREAS_STATS, AREAS_TIMELINE, AREAS_FILES };

/* absolute names, because the program may change its directory; empty: no file */
static char areas_folder[PATH_MAX], areas_files[AREAS_FILES][PATH_MAX];

/* Returns false if the name is too long. */
static bool areas_name(const char *name, const char *suffix, char path[PATH_MAX])
{
    char here[PATH_MAX] = "";
    int length;

    if (name[0] != '/' && getcwd(here, sizeof here) == NULL) {
        return false;
    }
    length = snprintf(path, PATH_MAX, "%s%s%s%s", here, here[0] != '\0' ? "/" : "", name, suffix);
    return length >= 0 && length < PATH_MAX;
}

static const char *areas_setting(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool areas_prepare(const char *timeline)
{
    const char *const names[AREAS_FILES] = {areas_setting("KEEL_TRACE"), areas_setting("KEEL_STATS"), timeline};
    const char *first = NULL;
    int error;

    unsetenv("KEEL_PARTS");
    for (unsigned i = AREAS_FILES; i-- > 0;) {
        if (names[i] != NULL && !areas_name(names[i], "", areas_files[i])) {
            report("'%s' is no name of a file", names[i]);
            return false;
        }
        first = names[i] != NULL ? names[i] : first;
    }
    if (first == NULL) {
        return true;
    }
    if (!areas_name(first, KEEL_TRACE_SUFFIX, areas_folder)) {
        report("'%s' is no name of a file", first);
        return false;
    }
    keel_trace_folder_remove(areas_folder); /* of a job killed together with the launcher */
    error = keel_trace_folder_make(areas_folder);
    if (error != 0) {
        report("cannot make the directory '%s': %s", areas_folder, strerror(error));
        return false;
    }
    setenv("KEEL_PARTS", areas_folder, 1);
    if (names[AREAS_TRACE] == NULL && timeline == NULL) {
        setenv("KEEL_TRACE_EVENTS", "0", 1); /* statistics alone */
    }
    return true;
}

static const char *areas_file(unsigned i)
{
    return areas_files[i][0] != '\0' ? areas_files[i] : NULL;
}

void areas_write(void)
{
    const keel_trace_files_t files = {
        .trace = areas_file(AREAS_TRACE), .stats = areas_file(AREAS_STATS), .timeline = areas_file(AREAS_TIMELINE)};
    const char *failed;
    int error;

    if (areas_folder[0] == '\0') {
        return;
    }
    error = keel_trace_folder_write(areas_folder, &files, &failed);
    if (error != 0) {
        report("cannot write '%s': %s", failed, strerror(error));
    }
}

void areas_remove(void)
{
    if (areas_folder[0] != '\0') {
        keel_trace_folder_remove(areas_folder);
    }
}
