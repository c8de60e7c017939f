# Of lines "ROUND PES WHO NAME BYTES US", where who is other or a setting of Keel's, and US may be "wrong": rows of perf/kernels/shmem/beside.
# -v format=table|csv|json|markdown, -v about=TEXT. Status 1: something of Keel's is wrong, or a round lacks a line.
function sorted(list, n,    i, j, x)
{
    for (i = 2; i <= n; i++) {
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            x = list[j]
            list[j] = list[j - 1]
            list[j - 1] = x
        }
    }
}

# of the first n of a list
function at(list, n, share)
{
    return list[1 + int(share * (n - 1) + 0.5)]
}

# of the lower quartile; "": none. With logs: what the core is held to beside raw UCX (perf/numbers), in programs that do not wait
function goal(setting, name, bytes)
{
    if (setting == "none") {
        return 1
    }
    if (setting != "y") {
        return ""
    }
    if (name == "put" && bytes == 8) {
        return 1.1
    }
    if (name == "put_rate" && bytes == 8) {
        return 0.83
    }
    return (name ~ /^(fetch|swap|cswap)/) ? 2 : ""
}

function row(pes, setting, name, bytes,    key, other, n, r, own, its, ratios, limit, q1)
{
    key = pes " " setting " " name " " bytes
    other = pes " other " name " " bytes
    if (other in wrong || !(other in is_there)) {
        say(pes, setting, name, bytes, "", "", "", "", "", "", (other in wrong) ? "the other is wrong" : "the other ends")
        return
    }
    for (r = 0; r in rounds; r++) {
        if (!((key " " r) in us) || !((other " " r) in us)) {
            print "beside.awk: no line of round " r ": " key > "/dev/stderr"
            is_bad = 1
            return
        }
        n++
        own[n] = us[key " " r]
        its[n] = us[other " " r]
        ratios[n] = own[n] / its[n]
    }
    sorted(own, n)
    sorted(its, n)
    sorted(ratios, n)
    limit = goal(setting, name, bytes)
    q1 = at(ratios, n, 0.25)
    say(pes, setting, name, bytes, at(own, n, 0.5), at(its, n, 0.5), q1, at(ratios, n, 0.5), at(ratios, n, 0.75), limit,
        (limit == "") ? "" : (q1 <= limit) ? "yes" : "no")
}

function number(x, digits)
{
    return (x == "") ? (format == "json" ? "null" : "") : sprintf("%." digits "f", x)
}

# a line a call: what is measured of each setting stands beside each other
function keep(pes, setting, name, bytes, own, its, q1, q2, q3, limit, met,    call)
{
    call = "| " pes " | " name " | " bytes
    if (!(call in column)) {
        column[call] = "| " ((its == "") ? met : number(its, 3))
        calls[++kept] = call
    }
    if (!(setting in is_shown)) {
        is_shown[setting] = ++shown
        title[shown] = setting
    }
    cell[call, setting] = (q1 == "") ? "" : number(own, 3) ": " ((met == "no") ? "**" : "") number(q1, 2) ((met == "no") ? "**" : "") \
        " " number(q2, 2) " " number(q3, 2)
}

function print_kept(    i, j, line)
{
    line = "| PEs | call | bytes | other: us "
    for (j = 1; j <= shown; j++) {
        line = line "| " title[j] ": us: quartiles of the ratio "
    }
    print line "|"
    gsub(/[^|]+/, "---", line)
    print line "|"
    for (i = 1; i <= kept; i++) {
        line = calls[i] " " column[calls[i]]
        for (j = 1; j <= shown; j++) {
            line = line " | " cell[calls[i], title[j]]
        }
        print line " |"
    }
}

function say(pes, setting, name, bytes, own, its, q1, q2, q3, limit, met)
{
    if (format == "markdown") {
        keep(pes, setting, name, bytes, own, its, q1, q2, q3, limit, met)
        return
    }
    if (format == "table") {
        printf "%3d  %-7s %-14s %8d %12s %12s  %6s %6s %6s  %5s  %s\n", pes, setting, name, bytes, number(own, 4),
            number(its, 4), number(q1, 2), number(q2, 2), number(q3, 2), number(limit, 2), met
    } else if (format == "csv") {
        printf "%d,%s,%s,%d,%s,%s,%s,%s,%s,%s,%s\n", pes, setting, name, bytes, number(own, 4), number(its, 4), number(q1, 3),
            number(q2, 3), number(q3, 3), number(limit, 2), met
    } else {
        printf "%s\n    {\"pes\": %d, \"protect\": \"%s\", \"call\": \"%s\", \"bytes\": %d, \"keel_us\": %s, \"other_us\": %s, ",
            (said++ ? "," : ""), pes, setting, name, bytes, number(own, 4), number(its, 4)
        printf "\"quartile1\": %s, \"median\": %s, \"quartile3\": %s, \"goal\": %s, \"met\": \"%s\"}", number(q1, 3),
            number(q2, 3), number(q3, 3), number(limit, 2), met
    }
}

{
    rounds[$1] = 1
    key = $2 " " $3 " " $4 " " $5
    if ($6 == "wrong") {
        wrong[key] = 1
        if ($3 != "other") {
            print "beside.awk: wrong on Keel: " key > "/dev/stderr"
            is_bad = 1
        }
        next
    }
    us[key " " $1] = $6
    if (!(key in is_there)) {
        is_there[key] = 1
        if ($3 != "other") {
            order[++rows] = key
        }
    }
}

END {
    if (format == "table") {
        print about
        printf "%3s  %-7s %-14s %8s %12s %12s  %6s %6s %6s  %5s  %s\n", "PEs", "protect", "call", "bytes", "Keel us", "other us", "q1",
            "median", "q3", "goal", "met"
    } else if (format == "markdown") {
        print about ".\n"
    } else if (format == "csv") {
        print "pes,protect,call,bytes,keel_us,other_us,quartile1,median,quartile3,goal,met"
    } else {
        printf "{\"about\": \"%s\", \"rows\": [", about
    }
    for (i = 1; i <= rows; i++) {
        split(order[i], part, " ")
        row(part[1], part[2], part[3], part[4])
    }
    if (format == "json") {
        print "\n]}"
    } else if (format == "markdown") {
        print_kept()
    }
    exit is_bad
}
