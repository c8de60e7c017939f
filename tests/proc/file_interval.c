/*
 * The number of checkpoints from one set of files to the next, for the inputs in a message of
 * KEEL_FILE_INTERVAL=auto:
 *
 *   file_interval COST INTERVAL SET PROCESSOR MTBF FILE_MTBF
 */
#include "ckpt/two_level.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 7) {
        return 2;
    }
    printf("%u\n", keel_two_level_checkpoints(&(keel_two_level_t){.cost_s = strtod(argv[1], NULL),
                                                                  .set_time_s = strtod(argv[3], NULL),
                                                                  .set_cost_s = strtod(argv[4], NULL),
                                                                  .covered_mtbf_s = strtod(argv[5], NULL),
                                                                  .beyond_mtbf_s = strtod(argv[6], NULL)},
                                              strtod(argv[2], NULL)));
    return 0;
}
