/* Prints the text of --help, or the version. */
#include "perf_plan.h"

#include <keel/version.h>

#include <stdio.h>

static const char help_head[] =
    "Usage: keel_perftest [options]               server: waits for a client, which brings the options\n"
    "       keel_perftest HOST [options]          client\n"
    "       keelrun -n RANKS keel_perftest [options]    (or another launcher of PMIx)\n"
    "\n"
    "     -t <test>      test to run (put_lat):\n";

static const char help_tail[] =
    "     -s <size>      bytes of a message; of a rank's memory for ckpt and restore; k, m, g may follow\n"
    "     -n <iters>     number of iterations, at least: blocks are whole (by size)\n"
    "     -w <iters>     number of warm-up iterations ahead of all others (a tenth; ckpt 2, restore none); whatever it "
    "is,\n"
    "                    before every block -O accesses of up to 64 KiB wake the target and are not timed\n"
    "     -O <count>     accesses a flush\n"
    "     -R <rank>      percentile to print (50.0)\n"
    "     -b <file>      batch file: each line a name and options of a test; -b again: every line of the first with\n"
    "                    every line of the second. Some come with Keel, in share/keel/perftest: sizes, tests, words\n"
    "     -P <kind>      protection: none, ckpt, puts, gets, all (what KEEL_PROTECT says)\n"
    "     -x <lane>      shm, tcp, or auto: shm within a node, tcp between nodes (auto)\n"
    "     -p <port>      TCP port to meet at (13338)\n"
    "     --pattern <p>  under a launcher who accesses whom: one (rank 0 rank 1), star (rank 0 all others in turn),\n"
    "                    all (everybody all others), random (everybody others at random), neighbours (one)\n"
    "     --seed <n>     of random (1)\n"
    "     --rounds <n>   ratios are medians of so many (9); of ckpt iterations\n"
    "     --vs-ucx       the same on raw UCP, in turn in this process: ratio with its quartiles. UCX's transport is "
    "posix\n"
    "                    where all ranks are on one host (and -x is not tcp), else tcp for every pair\n"
    "     --vs <peer>    ucx; stores: non-temporal stores of one core; memcpy: of the image by all ranks at once\n"
    "     --ucx <N=V>    sets a variable of UCX for raw UCX alone, without its UCX_\n"
    "     --changed <p>  ckpt: percent of the memory that changes between two (100)\n"
    "     --replay <n>   restore: gsyncs between the image and the death (4)\n"
    "     --waits        as in a program that waits inside phases (keel_wait_until), which numbers its puts\n"
    "     --mixed        as in a program that mixes ways to synchronise: it has locked (keel_lock), and accesses "
    "without\n"
    "                    a lock, so that a death would be a rollback; of restore it is none\n"
    "     --log-bytes <n>  logged between two checkpoints, which are not timed (48m)\n"
    "     -f             print only final numbers\n"
    "     -v             print CSV; detail: the ratios of all rounds, sorted; of all ranks: accesses, as keel_stats() "
    "counts\n"
    "                    them, and raw UCX's calls; those untimed; how often sides took turns; targets whose memory "
    "holds\n"
    "                    what was put; bytes logged\n"
    "     -h, --help     this text\n"
    "     --version      the version\n"
    "\n"
    "A latency is what the issuer sees of a put with its flush, or of a get; the target takes no part. A sample is a "
    "flush\n"
    "and what it completes, or as many of these as take 5 us; percentiles are of samples. Of several issuers all "
    "numbers are\n"
    "means of one. UCX's gets and fetching atomics are complete without a flush and get none. A log in which many "
    "accesses\n"
    "a flush do not fit makes -O smaller. Behind the last block data is compared where it was moved to, on both "
    "sides.\n"
    "ckpt: stopped is a gsync that takes a checkpoint less one that takes none, memcpy a copy with a gsync after it, "
    "less\n"
    "the same; with_gsync is that gsync with nothing less, in units of that memcpy; parity and core are bytes read "
    "and\n"
    "written a second, by parity and by memcpy of rank 0 while the others sleep. The times are those of the slowest "
    "rank.\n"
    "restore: all ranks but 0 die in turn; keelrun needs as many --spares as -w and -n together, or none and "
    "--restarts\n"
    "enough.\n"
    "Exit status: 0, 1 a failure, 2 wrong options.\n";

void perf_help_print(int is_version)
{
    if (is_version) {
        puts("keel_perftest " KEEL_VERSION_STRING);
        return;
    }
    fputs(help_head, stdout);
    for (unsigned k = 0; k < PERF_KINDS; k++) {
        printf("         %9s - %s\n", perf_kinds[k].name, perf_kinds[k].describe);
    }
    fputs(help_tail, stdout);
}
