# What spread.awk prints, a line a key: the key, then median and quartiles of each config, for gnuplot. Keys that are numbers go
# up, since gnuplot joins points as they come; others stay as they are.
BEGIN { FS = "," }

NR == 1 { next }

{
    if (!($1 in keys)) {
        keys[$1] = 1
        key[++key_count] = $1
        words += ($1 !~ /^-?[0-9]+(\.[0-9]+)?$/)
    }
    if (!($2 in configs)) {
        configs[$2] = 1
        config[++config_count] = $2
    }
    cell[$1, $2] = $3 "," $4 "," $5
}

function sort_keys(    i, j, keep)
{
    for (i = 2; i <= key_count; i++) {
        keep = key[i]
        for (j = i - 1; j >= 1 && key[j] + 0 > keep + 0; j--) {
            key[j + 1] = key[j]
        }
        key[j + 1] = keep
    }
}

END {
    if (words == 0) {
        sort_keys()
    }
    line = "key"
    for (c = 1; c <= config_count; c++) {
        line = line "," config[c] "," config[c] " quartile1," config[c] " quartile3"
    }
    print line
    for (k = 1; k <= key_count; k++) {
        line = key[k]
        for (c = 1; c <= config_count; c++) {
            line = line "," (((key[k], config[c]) in cell) ? cell[key[k], config[c]] : "NaN,NaN,NaN")
        }
        print line
    }
}
