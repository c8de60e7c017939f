# What spread.awk prints, a line a key: the key, then median and quartiles of each config, for gnuplot.
BEGIN { FS = "," }

NR == 1 { next }

{
    if (!($1 in keys)) {
        keys[$1] = 1
        key[++key_count] = $1
    }
    if (!($2 in configs)) {
        configs[$2] = 1
        config[++config_count] = $2
    }
    cell[$1, $2] = $3 "," $4 "," $5
}

END {
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
