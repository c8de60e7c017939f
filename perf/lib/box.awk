# A CSV as a boxed table, with -v title above it.
function rule(    c, i, line)
{
    line = ""
    for (c = 1; c <= columns; c++) {
        line = line "+"
        for (i = 0; i < width[c] + 2; i++) {
            line = line "-"
        }
    }
    print line "+"
}

BEGIN { FS = "," }

{
    for (c = 1; c <= NF; c++) {
        cell[NR, c] = $c
        if (length($c) > width[c]) {
            width[c] = length($c)
        }
    }
    if (NF > columns) {
        columns = NF
    }
}

END {
    print title
    rule()
    for (r = 1; r <= NR; r++) {
        for (c = 1; c <= columns; c++) {
            printf "| %*s ", width[c], cell[r, c]
        }
        print "|"
        if (r == 1) {
            rule()
        }
    }
    rule()
}
