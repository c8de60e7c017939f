/* The setup of ucp_ring.c as a program of UCP: forks the ranks. Ranks exchange addresses and meet
 * in shared memory. */
#ifndef UCP_RING_SETUP_H_
#define UCP_RING_SETUP_H_

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { BYTES_MAX = 2048 };

typedef struct {
    unsigned char worker[BYTES_MAX], key[BYTES_MAX];
    uint64_t words; /* address */
} peer_t;

static struct {
    unsigned arrived; /* ranks at barriers, of all barriers so far */
    peer_t peer[RANKS_MAX];
} * board;

static void barrier(void)
{
    const unsigned before = __atomic_fetch_add(&board->arrived, 1, __ATOMIC_ACQ_REL);
    const unsigned all = (before / size + 1) * size;

    while ((int)(__atomic_load_n(&board->arrived, __ATOMIC_ACQUIRE) - all) < 0) {
        ucp_worker_progress(worker); /* atomics of other ranks may need this CPU */
        sched_yield();
    }
}

static ucs_status_t meet(void)
{
    ucp_request_param_t param;
    ucs_status_t status;

    param.op_attr_mask = 0;
    status = complete(ucp_worker_flush_nbx(worker, &param));
    barrier();
    return status;
}

static ucs_status_t open_worker(ucp_context_h context, ucp_mem_h *mem)
{
    peer_t *mine = &board->peer[rank];
    ucp_worker_params_t worker_params;
    ucp_mem_map_params_t map;
    ucp_mem_attr_t attr;
    ucp_address_t *address;
    void *key;
    size_t length, key_length;

    memset(&worker_params, 0, sizeof(worker_params));
    memset(&map, 0, sizeof(map));
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    map.length = WORDS * sizeof(*words);
    map.flags = UCP_MEM_MAP_ALLOCATE;
    attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    if (ucp_worker_create(context, &worker_params, &worker) != UCS_OK || ucp_mem_map(context, &map, mem) != UCS_OK ||
        ucp_mem_query(*mem, &attr) != UCS_OK || ucp_worker_get_address(worker, &address, &length) != UCS_OK ||
        ucp_rkey_pack(context, *mem, &key, &key_length) != UCS_OK || length > BYTES_MAX || key_length > BYTES_MAX) {
        return UCS_ERR_NO_RESOURCE;
    }
    words = (uint64_t *)attr.address;
    memset(words, 0, map.length);
    memcpy(mine->worker, address, length);
    memcpy(mine->key, key, key_length);
    mine->words = (uintptr_t)words;
    ucp_worker_release_address(worker, address);
    ucp_rkey_buffer_release(key);
    return UCS_OK;
}

static ucs_status_t run(void)
{
    ucp_request_param_t none;
    ucp_ep_params_t ep_params;
    ucp_params_t params;
    ucp_context_h context;
    ucp_mem_h mem;
    ucs_status_t status;

    memset(&params, 0, sizeof(params));
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
    if (ucp_init(&params, NULL, &context) != UCS_OK || open_worker(context, &mem) != UCS_OK) {
        return UCS_ERR_NO_RESOURCE;
    }
    barrier();
    memset(&ep_params, 0, sizeof(ep_params));
    ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    for (unsigned r = 0; r < size; r++) {
        ep_params.address = (const ucp_address_t *)board->peer[r].worker;
        remote[r] = board->peer[r].words;
        if (ucp_ep_create(worker, &ep_params, &ep[r]) != UCS_OK ||
            ucp_ep_rkey_unpack(ep[r], board->peer[r].key, &rkey[r]) != UCS_OK) {
            return UCS_ERR_UNREACHABLE;
        }
    }
    status = ring();
    none.op_attr_mask = 0;
    for (unsigned r = 0; r < size; r++) {
        ucp_rkey_destroy(rkey[r]);
        (void)complete(ucp_ep_close_nbx(ep[r], &none));
    }
    barrier();
    ucp_mem_unmap(context, mem);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return status;
}

int main(int argc, char **argv)
{
    int status = 0, any = 0;

    size = (argc > 1) ? (unsigned)atoi(argv[1]) : 3;
    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (size == 0 || size > RANKS_MAX || board == MAP_FAILED) {
        return 1;
    }
    for (rank = 0; rank < size; rank++) {
        if (fork() == 0) {
            sum = rank + 1;
            return run() != UCS_OK;
        }
    }
    while (wait(&status) > 0) { /* after a death the other ranks wait forever */
        any |= status;
    }
    return any != 0;
}

#endif
