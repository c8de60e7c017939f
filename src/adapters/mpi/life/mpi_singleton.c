#include "life/mpi_singleton.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* prefixes of variables to hide */
static const char *const hidden[] = {"PMIX_",          "PMI_",          "OMPI_COMM_",    "OMPI_UNIVERSE",
                                     "OMPI_MCA_orte_", "OMPI_MCA_ess",  "OMPI_MCA_pmix", "ORTE_",
                                     "OMPI_MCA_osc=",  "OMPI_MCA_pml=", "OMPI_MCA_btl=", "PRTE_"};

/*
 * Settings for Open MPI: a singleton with windows that need no network. Version 4 gets all rows.
 * Version 5 refuses to start with a component that it does not have and gets the first rows only;
 * mpi_pmix.c makes it a singleton. MPICH needs no settings.
 */
static const char *const settings[][2] = {{"OMPI_MCA_btl", "self"},
                                          {"OMPI_MCA_pml", "ob1"},
                                          {"OMPI_MCA_osc", "pt2pt"},
                                          {"OMPI_MCA_ess", "singleton"},
                                          {"OMPI_MCA_ess_singleton_isolated", "1"},
                                          {"OMPI_MCA_pmix", "isolated"},
                                          {"OMPI_MCA_orte_create_session_dirs", "0"}};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]), SETTINGS_SINCE_5 = 2 };

static int is_hidden(const char *variable)
{
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        if (strncmp(variable, hidden[i], strlen(hidden[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Removes the hidden variables and returns copies, "NAME\0VALUE", ending with NULL. */
static char **hide_variables(void)
{
    size_t count = 0, at = 0;
    char **hidden_copies;

    while (environ[count] != NULL) {
        count++;
    }
    hidden_copies = calloc(count + 1, sizeof(*hidden_copies));
    for (size_t i = 0; hidden_copies != NULL && i < count; i++) {
        char *equals = strchr(environ[i], '=');

        if (equals != NULL && is_hidden(environ[i]) && (hidden_copies[at] = strdup(environ[i])) != NULL) {
            hidden_copies[at++][equals - environ[i]] = '\0';
        }
    }
    for (size_t i = 0; i < at; i++) {
        unsetenv(hidden_copies[i]);
    }
    return hidden_copies;
}

static void restore_variables(char **hidden_copies)
{
    for (char **at = hidden_copies; at != NULL && *at != NULL; at++) {
        setenv(*at, *at + strlen(*at) + 1, 1);
        free(*at);
    }
    free(hidden_copies);
}

/* Asks the running library: versions 4 and 5 of Open MPI have the same soname. */
static size_t count_settings(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    unsigned major = 0;
    int length;

    PMPI_Get_library_version(version, &length);
    return (sscanf(version, "Open MPI v%u", &major) == 1 && major >= 5) ? SETTINGS_SINCE_5 : SETTINGS;
}

int keel_mpi_singleton_init(int *argc, char ***argv, int required, int *provided)
{
    const size_t count = count_settings();
    char **hidden_copies = hide_variables();
    int code;

    for (size_t i = 0; i < count; i++) {
        setenv(settings[i][0], settings[i][1], 1);
    }
    /* The component for shared file pointers needs a session directory, which a singleton does not
     * have. */
    setenv("OMPI_MCA_sharedfp", "^sm", 0);
    code = PMPI_Init_thread(argc, argv, required, provided);
    for (size_t i = 0; i < count; i++) {
        unsetenv(settings[i][0]);
    }
    restore_variables(hidden_copies);
    return code;
}
