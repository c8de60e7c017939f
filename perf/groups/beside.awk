# Of lines "ROUND RANKS WHO CALL BYTES US", where who is none, logs or ompi: the rows of perf/groups/beside. -v format=csv|markdown
function sorted(list, n,    i, j, x) {
    for (i = 2; i <= n; i++) {
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            x = list[j]
            list[j] = list[j - 1]
            list[j - 1] = x
        }
    }
}
function at(who, key, share,    i, n, list) {
    for (i = 0; i < rounds; i++) {
        list[++n] = (who ~ /\//) ? time[substr(who, 2), key, i] / time["ompi", key, i] : time[who, key, i]
    }
    sorted(list, n)
    return list[1 + int(share * (n - 1) + 0.5)]
}
{
    key = $2 " " $4 " " $5
    if (!(key in seen)) {
        seen[key] = 1
        order[++keys] = key
    }
    time[$3, key, $1] = $6
    rounds = ($1 + 1 > rounds) ? $1 + 1 : rounds
}
END {
    if (format == "markdown") {
        print "| ranks | call | bytes | Keel, us | Open MPI, us | none | logs |"
        print "|---|---|---|---|---|---|---|"
    } else {
        print "ranks,call,bytes,keel_us,ompi_us,none_lower,none_median,none_upper,logs_lower,logs_median,logs_upper"
    }
    for (k = 1; k <= keys; k++) {
        split(order[k], part, " ")
        row = (format == "markdown") ? "| %d | %s | %d | %.2f | %.2f | %.2f [%.2f, %.2f] | %.2f [%.2f, %.2f] |\n" \
                                     : "%d,%s,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n"
        first = (format == "markdown") ? 0.5 : 0.25
        second = (format == "markdown") ? 0.25 : 0.5
        printf row, part[1], part[2], part[3], at("none", order[k], 0.5), at("ompi", order[k], 0.5),
            at("/none", order[k], first), at("/none", order[k], second), at("/none", order[k], 0.75),
            at("/logs", order[k], first), at("/logs", order[k], second), at("/logs", order[k], 0.75)
    }
}
