# Of lines "COPY WORK", the seconds of a checkpoint that stop the program and those behind it, with -v mtbf=SECONDS: Daly's
# interval as src/ckpt/interval.c has it, in seconds; the share of it that both take, and that of the work alone, in percent; and
# both in ms.
{
    cost = $1 + $2
    if ($1 !~ /^[0-9.]+(e-?[0-9]+)?$/ || $2 !~ /^[0-9.]+(e-?[0-9]+)?$/ || cost <= 0) {
        print "no cost of a checkpoint: " $0 > "/dev/stderr"
        exit 1
    }
    half = cost / (2 * mtbf)
    interval = (half < 1) ? sqrt(2 * cost * mtbf) * (1 + sqrt(half) / 3 + half / 9) - cost : mtbf
    printf "%.9g %.9g %.9g %.9g\n", interval, 100 * cost / interval, 100 * $2 / interval, 1000 * cost
}
