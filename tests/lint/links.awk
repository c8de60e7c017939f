# Prints links of pages to files that are not there, and to headings that are not in their page.
function folder(path) { return sub(/[^\/]*$/, "", path) ? path : "" }
# the headings of a page, as links name them
function read_page(page, line, anchor, inside, status) {
    while ((status = (getline line < page)) > 0) {
        if (line ~ /^ *```/)
            inside = !inside
        if (inside || line !~ /^#+ /)
            continue
        anchor = tolower(line)
        sub(/^#+ /, "", anchor)
        gsub(/[^a-z0-9_ -]/, "", anchor)
        gsub(/ /, "-", anchor)
        is_heading[page, anchor] = 1
    }
    close(page)
    return is_there[page] = status + 2
}
FNR == 1 { inside = 0 }
/^ *```/ { inside = !inside }
inside { next }
{
    rest = $0
    gsub(/`[^`]*`/, "", rest)
    while (match(rest, /\]\([^) ]+\)/)) {
        link = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        if (link ~ /^(https?|mailto):/)
            continue
        heading = link
        if (!sub(/^[^#]*#/, "", heading))
            heading = ""
        sub(/#.*/, "", link)
        page = link == "" ? FILENAME : folder(FILENAME) link
        if (link != "" && system("test -e \047" page "\047") != 0)
            print FILENAME ": no " link
        else if (heading != "") {
            if (!(page in is_there))
                read_page(page)
            if (!((page, heading) in is_heading))
                print FILENAME ": no heading " heading " in " page
        }
    }
}
