# Of lines "round,config,key,value" a number a round, of -v key=KEY and -v config=CONFIG, by -v show:
#   value     as it is
#   overhead  by how many percent it is above that of -v base=CONFIG
#   ratio     base's value divided by it
#   less      by how many percent its overhead in units is less than that of -v peer=CONFIG; 0 where the peer has none
# A round without one of these values is an error, and nothing is printed.
BEGIN {
    FS = ","
    needed = config
    if (show != "value") {
        needed = needed " " base
    }
    if (show == "less") {
        needed = needed " " peer
    }
    parts = split(needed, part, " ")
}

{
    if (!($1 in seen)) {
        seen[$1] = 1
        round[++count] = $1
    }
    if ($3 == key) {
        value[$1, $2] = $4
    }
}

function shown(r,    own, none, other)
{
    own = value[r, config]
    none = value[r, base]
    other = value[r, peer]
    if (show == "value") {
        return own
    }
    if (show == "overhead") {
        return 100 * (own / none - 1)
    }
    if (show == "ratio") {
        return none / own
    }
    return other > none ? 100 * (1 - (own - none) / (other - none)) : 0
}

function is_number(text)
{
    return text ~ /^-?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/
}

END {
    if (count == 0) {
        lost = "any round"
    }
    for (i = 1; i <= count; i++) {
        for (p = 1; p <= parts; p++) {
            if (!is_number(value[round[i], part[p]]) || (show != "value" && value[round[i], part[p]] <= 0)) {
                lost = "round " round[i] " of " part[p]
            }
        }
    }
    if (lost != "") {
        print "no " key " in " lost > "/dev/stderr"
        exit 1
    }
    for (i = 1; i <= count; i++) {
        printf "%.9g\n", shown(round[i])
    }
}
