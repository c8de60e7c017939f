/*
 * Arbitrary bytes as a topology file: refused with a reason, or a consistent hierarchy by which
 * groups can be placed. Built twice: for Keel's format, and with FUZZ_SLURM for Slurm's.
 */
#include "topo/choose.h"
#include "topo/topology.h"

#include <stdlib.h>
#include <string.h>

#define RANKS 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int is_right)
{
    if (!is_right) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"n1", "n2", "n3", "n4", "n05.x", "n06", "a", "?"};
    const keel_topology_file_t file = {.path = "file", .text = (const char *)data, .length = size};
    keel_topology_params_t params = {.ranks = RANKS};
    const char *host[RANKS];
    char note[KEEL_TOPOLOGY_NOTE_MAX];
    keel_domains_t domains;
    keel_groups_t groups;
    keel_tree_error_t error;
    keel_status_t status;

    for (unsigned r = 0; r < RANKS; r++) {
        host[r] = names[r * 5 % 8];
    }
    params.host = host;
#ifdef FUZZ_SLURM
    params.slurm = file;
#else
    params.user = file;
#endif
    status = keel_topology_make(&params, &domains, &error);
    if (status != KEEL_OK) {
        check((status == KEEL_ERR_INVALID_PARAM) && (error.text[0] != '\0'));
        check(memchr(error.text, '\0', sizeof(error.text)) != NULL);
        return 0;
    }
    check(keel_domains_check(&domains) == KEEL_OK);
    check(keel_topology_place(&domains, "auto", 3, 1, &groups, note, sizeof(note)) == KEEL_OK);
    check(groups.count == RANKS / 3);
    keel_groups_release(&groups);
    keel_domains_release(&domains);
    return 0;
}
