/*
 * Keeps Open MPI a singleton although Keel has joined the launcher's job. Since version 5 Open MPI
 * starts by PMIx_Init(), and libpmix, which has one client per process, would make it a rank of
 * Keel's job. The functions below precede those of libpmix. Callers in Open MPI find no server, so
 * Open MPI starts as a singleton; all other callers reach libpmix.
 */
#define _GNU_SOURCE /* dladdr(), RTLD_NEXT */
#include "life/mpi_singleton.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

#define PMIX_EXPORTED __attribute__((visibility("default")))

/* True if the object at this address belongs to Open MPI. */
static int is_of_open_mpi(const void *address)
{
    static const char *const names[] = {"libmpi", "libopen-pal", "libopen-rte", "mca_"};
    const char *name;
    Dl_info info;

    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return 0;
    }
    name = strrchr(info.dli_fname, '/');
    name = (name != NULL) ? name + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

/*
 * Defines _name(_arguments): _singleton for Open MPI, else the result of libpmix for the values
 * _passed. The function of libpmix is looked up at the first call. The lookup fails only if libpmix
 * is not loaded, and then Open MPI is the only caller.
 */
#define FOR_OPEN_MPI(_name, _arguments, _passed, _singleton)      \
    PMIX_EXPORTED pmix_status_t _name _arguments                  \
    {                                                             \
        static pmix_status_t(*theirs) _arguments;                 \
                                                                  \
        if (is_of_open_mpi(__builtin_return_address(0))) {        \
            return _singleton;                                    \
        }                                                         \
        if (theirs == NULL) {                                     \
            *(void **)&theirs = dlsym(RTLD_NEXT, #_name);         \
        }                                                         \
        return (theirs != NULL) ? theirs _passed : PMIX_ERR_INIT; \
    }

/* Open MPI takes PMIX_ERR_UNREACH as the sign of a singleton; it needs a name nevertheless. */
static pmix_status_t start_singleton(pmix_proc_t *proc)
{
    if (proc != NULL) {
        memset(proc, 0, sizeof(*proc));
        strcpy(proc->nspace, "alone");
    }
    return PMIX_ERR_UNREACH;
}

/* Names an existing directory for each kind of session, so Open MPI makes none and leaves none
 * behind. A singleton puts nothing there. */
static pmix_status_t get_singleton(const char *key, pmix_value_t **value_p)
{
    static const char *const keys[] = {PMIX_TMPDIR, PMIX_NSDIR, PMIX_PROCDIR};
    const char *folder = getenv("TMPDIR");
    size_t i = 0;

    while (i < sizeof(keys) / sizeof(keys[0]) && (key == NULL || strcmp(key, keys[i]) != 0)) {
        i++;
    }
    if (i == sizeof(keys) / sizeof(keys[0]) || value_p == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    *value_p = calloc(1, sizeof(**value_p));
    if (*value_p == NULL) {
        return PMIX_ERR_NOMEM;
    }
    (*value_p)->type = PMIX_STRING;
    (*value_p)->data.string = strdup((folder != NULL) ? folder : "/tmp");
    return PMIX_SUCCESS;
}

static pmix_status_t complete(pmix_op_cbfunc_t callback, void *arg)
{
    if (callback != NULL) {
        callback(PMIX_SUCCESS, arg);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t register_none(pmix_hdlr_reg_cbfunc_t callback, void *arg)
{
    if (callback != NULL) {
        callback(PMIX_SUCCESS, 0, arg);
    }
    return PMIX_SUCCESS;
}

PMIX_EXPORTED int PMIx_Initialized(void)
{
    static int (*theirs)(void);

    if (is_of_open_mpi(__builtin_return_address(0))) {
        return 0;
    }
    if (theirs == NULL) {
        *(void **)&theirs = dlsym(RTLD_NEXT, "PMIx_Initialized");
    }
    return (theirs != NULL) ? theirs() : 0;
}

FOR_OPEN_MPI(PMIx_Init, (pmix_proc_t * proc, pmix_info_t info[], size_t ninfo), (proc, info, ninfo),
             start_singleton(proc))
FOR_OPEN_MPI(PMIx_Finalize, (const pmix_info_t info[], size_t ninfo), (info, ninfo), PMIX_SUCCESS)
FOR_OPEN_MPI(PMIx_Get,
             (const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t ninfo, pmix_value_t **val),
             (proc, key, info, ninfo, val), get_singleton(key, val))
FOR_OPEN_MPI(PMIx_Put, (pmix_scope_t scope, const char key[], pmix_value_t *val), (scope, key, val), PMIX_SUCCESS)
FOR_OPEN_MPI(PMIx_Store_internal, (const pmix_proc_t *proc, const char key[], pmix_value_t *val), (proc, key, val),
             PMIX_SUCCESS)
FOR_OPEN_MPI(PMIx_Commit, (void), (), PMIX_SUCCESS)
FOR_OPEN_MPI(PMIx_Fence, (const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo),
             (procs, nprocs, info, ninfo), PMIX_SUCCESS)
FOR_OPEN_MPI(PMIx_Fence_nb,
             (const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
              void *cbdata),
             (procs, nprocs, info, ninfo, cbfunc, cbdata), complete(cbfunc, cbdata))
FOR_OPEN_MPI(PMIx_Register_event_handler,
             (pmix_status_t codes[], size_t ncodes, pmix_info_t info[], size_t ninfo, pmix_notification_fn_t handler,
              pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata),
             (codes, ncodes, info, ninfo, handler, cbfunc, cbdata), register_none(cbfunc, cbdata))
FOR_OPEN_MPI(PMIx_Deregister_event_handler, (size_t ref, pmix_op_cbfunc_t cbfunc, void *cbdata), (ref, cbfunc, cbdata),
             complete(cbfunc, cbdata))
