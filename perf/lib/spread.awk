# Lines "round,config,key,value" to CSV: for each key and config the median and the quartiles over the rounds. With
# -v base=CONFIG of how much more the value is than that config's in the same round, in percent. Keeps the order of
# appearance.
function sorted(text, values,    count, i, j, keep)
{
    count = split(text, values, " ")
    for (i = 2; i <= count; i++) {
        keep = values[i] + 0
        for (j = i - 1; j >= 1 && values[j] + 0 > keep; j--) {
            values[j + 1] = values[j]
        }
        values[j + 1] = keep
    }
    return count
}

BEGIN { FS = "," }

{
    id = $3 SUBSEP $2
    if (!(id in seen)) {
        seen[id] = ++ids
        key[ids] = $3
        config[ids] = $2
    }
    value[$1, id] = $4
    if (!($1 in round)) {
        round[$1] = 1
        rounds[++round_count] = $1
    }
}

END {
    print "key,config,median,quartile1,quartile3,rounds"
    for (i = 1; i <= ids; i++) {
        text = ""
        for (r = 1; r <= round_count; r++) {
            own = value[rounds[r], key[i], config[i]]
            other = value[rounds[r], key[i], base]
            if (own != "" && base == "") {
                text = text " " own
            } else if (own != "" && other > 0) {
                text = text " " 100 * (own / other - 1)
            }
        }
        count = sorted(text, values)
        if (count > 0 && config[i] != base) {
            printf "%s,%s,%.6g,%.6g,%.6g,%d\n", key[i], config[i], values[int(count / 2) + (count % 2)],
                values[int((count + 3) / 4)], values[int((3 * count + 3) / 4)], count
        }
    }
}
