#!/bin/bash
# Checks the sources: lint.sh CHECK [BUILD_DIRECTORY], from the repository's root. Prints what is wrong, one line each.
# shellcheck disable=SC2013,SC2015,SC2016,SC2317 # checks are called by their names; names of files and symbols are words
set -u
export LC_ALL=C

check=${1:?usage: lint.sh CHECK [BUILD_DIRECTORY], with a CHECK of tests/lint/CMakeLists.txt}
build=${2:-build}
trees="include src transports perf contrib tests"
bad=0

complain() {
    echo "$*"
    bad=1
}

# sources NAME_PATTERN...: the files of the tree, without build directories
sources() {
    local tree pattern
    for tree in $trees; do
        [ -d "$tree" ] || continue
        for pattern in "$@"; do
            find "$tree" -type f -name "$pattern" -not -path '*/build*/*'
        done
    done | sort
}

need() {
    command -v "$1" > /dev/null && return
    echo "skipped: no $1"
    exit 77
}

lint_format() {
    need clang-format-14
    local file
    for file in $(sources '*.c' '*.h' '*.cc' | xargs clang-format-14 --dry-run 2>&1 | sed -n 's/:.*clang-format-vio.*//p' | sort -u); do
        complain "$file: not as clang-format-14 -i leaves it"
    done
}

# every header compiles alone, and those of the interface as C++, too
lint_headers() {
    local header flags output cache object
    # nearly all headers are as they were at the last run
    cache=$(command -v ccache)
    object=$(mktemp) || exit 1
    flags="-c -o $object -Wall -Wextra -Werror -Wno-unused-parameter"
    flags="$flags -Iinclude -I$build/include -Isrc -Itransports -Itests/lib -Isrc/adapters/shmem -Isrc/adapters/mpi -I. $(pkg-config --cflags ucx pmix hwloc libisal libsodium libibverbs 2> /dev/null)"
    # after ours: Open MPI has a shmem.h, too
    flags="$flags -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX $(pkg-config --cflags ompi-c 2> /dev/null || pkg-config --cflags mpich 2> /dev/null)"
    for header in $(sources '*.h'); do
        case $header in
        contrib/examples/*) continue ;;
        esac
        # shellcheck disable=SC2086 # flags are several words
        output=$($cache cc -std=gnu11 $flags -I"${header%/*}" -x c "$header" 2>&1) || complain "$header as C: $output"
        [[ $header == include/* ]] || continue
        # shellcheck disable=SC2086
        output=$($cache c++ -std=gnu++20 $flags -D_Static_assert=static_assert -x c++ "$header" 2>&1) || complain "$header as C++: $output"
    done
    rm -f "$object"
}

# the height of each folder below src; a file includes only folders that are lower, or its own. check is what tests plant and
# count: nothing of it is in the library.
heights='check:-1 base:0 code:1 topo:1 wire:1 files:1 trace:1 peer:2 oplog:3 ckpt:4 sync:5 recovery:6 engine:7 window:8 order:9
access:10 epoch:11 rma:12 api:13 groups:14 rehearsal:14 store:14 job:15 preload:15 adapters:16 tools:16'

# layer_faults FILE...: each include that is not below the file, and each folder without a height
layer_faults() {
    awk -v list="$heights" '
    BEGIN {
        for (i = split(list, rows, /[ \n]+/); i > 0; i--) {
            split(rows[i], row, ":")
            height[row[1]] = row[2]
        }
    }
    function is_there(name, line, status) {
        status = getline line < name
        close(name)
        return status >= 0
    }
    FNR == 1 {
        split(FILENAME, path, "/")
        layer = path[2]
        if (layer != "runtime" && !(layer in height))
            print FILENAME ": folder without a height"
    }
    layer != "runtime" && match($0, /^ *# *include *["<][^">]*[">]/) {
        is_quoted = $0 ~ /^[^<]*"/
        include = $0
        sub(/^[^"<]*["<]/, "", include)
        sub(/[">].*/, "", include)
        split(include, path, "/")
        # in brackets, a folder that is not of src is of a system
        if (!is_quoted && !(path[1] in height))
            next
        if ((path[1] == include || path[1] == layer) && include !~ /\.\.\//)
            next
        # the default drivers are picked there
        if ((layer == "job" || layer == "tools") && include ~ /^(transports|runtime)\//)
            next
        if (path[1] in height && layer in height && height[path[1]] < height[layer] && include !~ /\.\.\//)
            next
        # a sub-folder of the adapter
        if (layer == "adapters" && match(FILENAME, /^src\/adapters\/[^\/]*\//) && is_there(substr(FILENAME, 1, RLENGTH) include))
            next
        print FILENAME " includes " include ", which is not below it"
    }' "$@"
}

lint_layers() {
    local file copy files
    mapfile -t files < <(find src -mindepth 2 -name '*.[ch]' | sort)
    while read -r file; do
        complain "$file"
    done < <(layer_faults "${files[@]}")
    copy=$(mktemp -d) || exit 1
    mkdir -p "$copy/src/base" "$copy/src/nowhere"
    printf '#include %s\n' '"base/memory.h"' '<sys/uio.h>' '"wire/wire.h"' '"there/is.h"' '<wire/wire.h>' '"base/../wire/wire.h"' > "$copy/src/base/planted.c"
    echo > "$copy/src/nowhere/planted.c"
    [ "$(cd "$copy" && layer_faults src/base/planted.c src/nowhere/planted.c | wc -l)" -eq 5 ] || complain "layer_faults misses planted faults"
    rm -r "$copy"
    # who may know which library, and what protocol code may not touch
    forbid 'ucp/|uct/' 'transports/ucp/ include/keel/ucx.h src/preload/' include src transports
    forbid 'pmix' 'src/runtime/ src/adapters/mpi/life/mpi_pmix.c' include src transports
    forbid 'mpi\.h|shmem' 'src/adapters/' include src transports
    # what runtimes and transports include of the library is below it all
    for file in $(tr ' ' '\n' <<< "$heights" | sed -nE 's/:([1-9][0-9]*)$//p'); do
        forbid "$file/" '' src/runtime transports src/transport.h src/runtime_ops.h
    done
    forbid 'time\.h|sys/(time|socket|select|poll)\.h|poll\.h|signal\.h' '' src/{code,topo,wire,peer,oplog,ckpt,sync,recovery,engine,window,order,access,epoch,rma,api,groups,rehearsal,store,job}
    file=$(grep -rnE --include='*.[ch]' '\b(clock_gettime|gettimeofday|(secure_)?getenv|u?sleep|nanosleep|s?rand|rand_r|s?random|getrandom|signal|sigaction|raise|kill)\(' \
        src/{code,topo,wire,peer,oplog,ckpt,sync,recovery,engine,window,order,access,epoch,rma,api,groups,rehearsal,store,job} 2> /dev/null)
    [ -z "$file" ] || complain "protocol code with a clock, an environment or a signal: $file"
}

# forbid PATTERN ALLOWED_PREFIXES TREE...: no #include <PATTERN...> in the trees but below the allowed prefixes
forbid() {
    local pattern=$1 allowed=$2 file prefix
    shift 2
    for file in $(grep -lErs --include='*.[ch]' "^ *# *include *[<\"]($pattern)" "$@"); do
        for prefix in $allowed; do
            [ "${file#"$prefix"}" = "$file" ] || continue 2
        done
        complain "$file must not include $pattern"
    done
}

lint_scripts() {
    need shellcheck
    {
        find .ci contrib tests perf -type f -not -path '*/build*/*' -exec grep -lE '^#!/bin/(ba)?sh' {} + 2> /dev/null
        sources '*.sh'
        find src -type f -name '*.in' -exec grep -lE '^#!/bin/(ba)?sh' {} +
    } | sort -u | xargs -r shellcheck -S warning || bad=1
}

# is_cited CITATION: the cited page of the protocol is there, and so is its section. protocol.md is the list of the pages: of
# that only an invariant, or the section of all, can be cited.
is_cited() {
    local page=${1%%.md*}.md section=${1#*.md}
    [ -f "contrib/doc/${page#doc/}" ] || return 1
    page=contrib/doc/${page#doc/}
    section=${section#, }
    case $section in
    \"*) section=${section#\"} && grep -qxF "## ${section%\"}" "$page" ;;
    'invariant '*) [ "$page" = contrib/doc/protocol.md ] && sed -n '/^## Invariants$/,$p' "$page" | grep -q "^${section#invariant }\. " ;;
    *) [ "$page" != contrib/doc/protocol.md ] && [ -z "$section" ] ;;
    esac
}

lint_files() {
    local file lines
    while read -r lines file; do
        [ "$file" = total ] || [ "$lines" -le 800 ] || complain "$file has $lines lines, more than 800"
    done < <(sources '*.c' '*.h' '*.sh' '*.cmake' 'CMakeLists.txt' | xargs wc -l)
    # the word is split so that this line does not find itself
    file=$(grep -rnEwI "TO""DO|FIX""ME|XX""X" --exclude-dir='build*' --exclude-dir=.git . | head -20)
    [ -z "$file" ] || complain "unfinished: $file"
    file=$(sources '*.c' '*.h' '*.sh' '*.cmake' 'CMakeLists.txt' | xargs grep -lE '[[:blank:]]+$' CMakeLists.txt)
    [ -z "$file" ] || complain "blanks at line ends: $file"
    for file in $(find $trees -name '*.[ch]' -empty -not -path '*/build*/*') $(sources '*.c' '*.h' | xargs awk 'FNR == 1 { if (!/^\/\*/) print FILENAME; nextfile }'); do
        # a .c with a header beside it may leave that to the header
        [ -f "${file%.c}.h" ] && [ "${file%.h}" = "$file" ] || complain "$file does not open with what it owns"
    done
    # a header of the interface may have the name of an inner one
    for file in $(sources '*.c' '*.h' | grep -v '^include/' | sed 's|.*/||' | sort | uniq -d); do
        complain "file name used twice: $file"
    done
    # what comments cite is here; a citation may end at the end of its line
    # shellcheck disable=SC2016 # $0 is awk's
    while IFS=: read -r file lines; do
        is_cited "$lines" || complain "$file cites $lines, which is not there"
    done < <(sources '*.c' '*.h' '*.pml' | xargs awk -v cited='([a-z]+/)?protocol(/[a-z_]+)?\\.md(, ("[^"]*"|invariant [0-9]+|[A-Z][a-z]+))?' '
        { sub(/^ +\* /, ""); text = FNR == 1 ? $0 : last " " $0; rest = text }
        # a citation may go on in the next line: each line is looked at with the one before, and a hit counts where it begins in that
        FNR > 1 {
            from = 0
            while (match(rest, cited) && from + RSTART <= length(last)) {
                print FILENAME ":" substr(rest, RSTART, RLENGTH)
                from += RSTART + RLENGTH - 1
                rest = substr(rest, RSTART + RLENGTH)
            }
        }
        { last = $0 }')
    for lines in 'protocol.md' 'protocol.md, Locks' 'protocol.md, invariant 99' 'protocol/none.md' 'protocol/rma.md, "Nothing"'; do
        ! is_cited "$lines" || complain "is_cited misses that '$lines' is not there"
    done
    # the other pages: from the root, or in the interface by their names in contrib/doc
    for file in $(sources '*.c' '*.h' '*.pml' | xargs grep -l '\.md'); do
        while read -r lines; do
            case $lines in
            contrib/doc/protocol[./]*) continue ;;
            contrib/* | perf/* | tests/*) ;;
            *) [[ $file == include/* && $lines == *,* ]] || continue && lines=contrib/doc/$lines ;;
            esac
            [ -f "${lines%%, *}" ] || complain "$file cites $lines, which is not there"
            [ "${lines#*, }" = "$lines" ] || grep -qsxE "##+ ${lines#*, }" "${lines%%, *}" || complain "$file cites a section that is not there: $lines"
        done < <(tr '\n' ' ' < "$file" | sed 's/ \*  */ /g;s/  */ /g' | grep -oE '[A-Za-z_/]+\.md(, "[^"]*")?' | tr -d '"')
    done
    file=$(sources '*.c' '*.h' | xargs grep -lE '[(\[]design [0-9]')
    [ -z "$file" ] || complain "cites a document that is not here: $file"
}

# the README's program is the one that is built, the costs in the documents are those measured, and the README's links lead somewhere
lint_readme() {
    local link costs
    costs=$(perf/lib/costs 2>&1) || complain "$costs"
    [ "$bad" -ne 0 ] || diff <(echo "$costs") contrib/doc/costs.md || complain "contrib/doc/costs.md (>): not what perf/lib/costs prints (<)"
    [ "$(wc -l < README.md)" -le 120 ] || complain "README.md: more than 120 lines"
    [ "$(wc -l < tests/README.md)" -le 40 ] || complain "tests/README.md: more than 40 lines"
    diff <(awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md) contrib/examples/hello_keel.c ||
        complain "README.md (<) and contrib/examples/hello_keel.c (>) differ"
    while read -r link; do
        complain "$link"
    done < <(awk -f tests/lint/links.awk README.md)
    # every setting has a row, with its default
    diff <(sed -nE 's/^    \{"([A-Z_]+)", "([^"]*)",.*/KEEL_\1 \2/p' src/base/config.c | sort) \
        <(awk -F ' *[|] *' '$2 ~ /^`KEEL_[A-Z_]+`$/ { gsub(/`/, "", $2); gsub(/`/, "", $3); print $2, $3 }' contrib/doc/configuration.md | sort) ||
        complain "contrib/doc/configuration.md (>): not the settings and defaults of src/base/config.c (<)"
    [ "$(grep -c '^    {"[A-Z_]*", "' src/base/config.c)" -ge 30 ] || complain "src/base/config.c: only few settings were found"
    # every folder that has files has a row, and what the rows name is there
    diff <(find src transports -mindepth 2 -type f ! -name CMakeLists.txt -printf '%h\n' | sort -u) \
        <(grep -oE '`(src|transports)/[^`]+`' contrib/doc/source.md | tr -d '`' | while read -r link; do
            [ -d "$link" ] && echo "$link"
            [ -e "$link" ] || echo "$link is not there"
        done | sort -u) || complain "contrib/doc/source.md (>) names other folders than there are (<)"
}

# what the glossary says is in the code is there, and the documents' links lead somewhere
lint_glossary() {
    local word page link code sample count=0
    local -a pages
    # a name that only comments and texts have is in no code
    code=$(find src include -name '*.[ch]' -exec cat {} + | gcc -fpreprocessed -dD -E -P -x c - 2> /dev/null | sed -E 's/"([^"\\]|\\.)*"//g')
    for word in $(grep -oE '`[^`]+`' contrib/doc/glossary.md | tr -d '`()' | sort -u); do
        count=$((count + 1))
        case $word in
        */*) compgen -G "src/$word.*" > /dev/null || complain "contrib/doc/glossary.md: no src/$word" ;;
        *) grep -qwF -- "${word##*.}" <<< "$code" || complain "contrib/doc/glossary.md: no '$word' in the sources" ;;
        esac
    done
    [ "$count" -ge 40 ] || complain "contrib/doc/glossary.md: only $count names were found"
    for page in contrib/doc/*.md contrib/doc/guide/*.md contrib/doc/protocol/*.md tests/records/*.md; do
        [ -z "$(awk 'length > 120 && !/^(\||    )/' "$page")" ] || complain "$page: lines over 120 columns"
    done
    sample=$(mktemp -d) || exit 1
    printf '%s\n' '# Of *this*, and that' '[a](page.md#of-this-and-that) [a](#of-this-and-that) [a](https://no) `[a](no.md)`' \
        '```' '[a](no.md)' '# No' '```' '[a](no.md) ![a](no.png) [a](no.md#no) [a](page.md#no) [a](#no)' > "$sample/page.md"
    [ "$(awk -f tests/lint/links.awk "$sample/page.md" | cut -d' ' -f2- | cut -d' ' -f1-2 | tr '\n' ,)" = 'no no.md,no no.png,no no.md,no heading,no heading,' ] ||
        complain "tests/lint/links.awk misjudges: $(awk -f tests/lint/links.awk "$sample/page.md")"
    rm -r "$sample"
    mapfile -t pages < <(sources '*.md')
    [ ${#pages[@]} -ge 60 ] || complain "only few pages were found"
    while read -r link; do
        complain "$link"
    done < <(awk -f tests/lint/links.awk "${pages[@]}")
}

# the rows of the goals and what the pictures show follow from the raw data beside them
lint_measured() {
    local file name sum
    # that takes a minute and a half, and follows from files alone: of which, when it was done last, is in tests/lint/replayed
    sum=$(sha256sum perf/numbers perf/lib/* perf/figures/goals/* | sha256sum) sum=${sum%% *}
    if [ "$sum" != "$(cat tests/lint/replayed)" ] || [ -n "${KEELTEST_SEED:-}" ]; then
        diff <(perf/lib/replay perf/figures/goals 2>&1) perf/figures/goals/goals.csv ||
            complain "perf/figures/goals/goals.csv (>) is not what perf/numbers makes of the raw data (<)"
        [ "$bad" -ne 0 ] || [ "$sum" = "$(cat tests/lint/replayed)" ] || complain "it is, and so tests/lint/replayed is to be $sum"
    fi
    for file in perf/figures/*.csv; do
        name=$(basename "$file" .csv)
        case $name in
        *.rounds) continue ;;
        esac
        diff <(perf/lib/shown perf/figures "$name" 2>&1) "$file" ||
            complain "$file (>) is not what perf/figures/run makes of $name.rounds.csv (<)"
    done
}

# the page of figures is made of its text and of what was measured, and of nothing else
lint_figures() {
    local copy peer
    copy=$(mktemp -d) || exit 1
    cp -r perf/figures/. "$copy"
    rm "$copy/README.md"
    perf/figures/page "$copy" || complain "perf/figures/page failed"
    diff perf/figures/README.md "$copy/README.md" ||
        complain "perf/figures/README.md (<) is not what perf/figures/page makes of page.md and the CSV files (>)"
    rm -r "$copy"
    ! grep -nE '\(not (measured|recorded)|not recorded\)|\(no [^)]* in [a-z_.]*\.csv' perf/figures/README.md ||
        complain "perf/figures/README.md: what page.md asks for is not there"
    while IFS= read -r peer; do
        cut -d, -f2 perf/figures/goals/goals.csv | grep -qxE "${peer%;*}" || complain "perf/lib/peers: no row of the goals: $peer"
    done < perf/lib/peers
}

# format_of FILE [NAME...]: its structures, unions and enumerations, or those with these names
format_of() {
    gcc -fpreprocessed -E -P "$1" 2> /dev/null | awk -v names="${*:2}" '
        BEGIN { if (split(names, list, " ") > 0) for (i in list) wanted[list[i]] = 1 }
        /^(typedef )?(struct|union|enum)/ {
            head = $0
            sub(/^(typedef )?(struct|union|enum) /, "", head)
            inside = names == "" || head ~ / \{$/ && substr(head, 1, length(head) - 2) in wanted
        }
        inside { gsub(/[ \t]+/, " "); print }
        /}.*;$/ && !/^ / { inside = 0 }'
}

# What leaves a process is of one version: another record, message, slot of a board or payload of a control message is
# another version. A row of tests/lint/wire_formats is a file, or a file and the structures in it.
wire_format() {
    local row
    grep -v '^#' tests/lint/wire_formats | while read -r -a row; do
        format_of "${row[@]}"
    done
}

lint_wire() {
    local version sum last row name
    version=$(sed -n 's/^#define KEEL_WIRE_VERSION \([0-9]*\)$/\1/p' src/wire/wire.h)
    sum=$(wire_format | sha256sum | cut -c1-16)
    last=$(tail -1 tests/lint/wire_versions)
    [ "$last" = "$version $sum" ] ||
        complain "what processes send is '$version $sum', and tests/lint/wire_versions ends with '$last': what differs needs a new KEEL_WIRE_VERSION and a line there"
    [ -z "$(cut -d' ' -f1 tests/lint/wire_versions | sort -n | uniq -d)" ] || complain "tests/lint/wire_versions: a version twice"
    while read -r -a row; do
        for name in "${row[@]:1}"; do
            [ -n "$(format_of "${row[0]}" "$name")" ] || complain "tests/lint/wire_formats: ${row[0]} has no structure $name"
        done
        [ -n "$(format_of "${row[0]}")" ] || complain "tests/lint/wire_formats: ${row[0]} has no structures"
    done < <(grep -v '^#' tests/lint/wire_formats)
}

# the shape of the sources, as tests/lint/house has it: none of its numbers grows, and what was gained is written there
lint_house() {
    contrib/house "$build" || bad=1
    [ "$(contrib/house -l circles "$build" | wc -l)" -eq 0 ] || complain "folders of src that reach each other"
}

pronouns="it its itself that this these those which what who whom whose whoever whatever they them their one ones"

# word_counts FILE...: a line for each: its name, words of its comments, pronouns, words for a person, comment lines over 100 columns.
# Lines of a licence are left out.
word_counts() {
    awk -v pronouns_known="$pronouns" '
    BEGIN {
        split(pronouns_known, list, " ")
        for (i in list)
            pronoun[list[i]] = 1
        person["who"] = person["whom"] = person["whose"] = person["whoever"] = 1
    }
    function report() {
        if (file != "")
            print file, words + 0, pronouns + 0, persons + 0, long + 0
        file = FILENAME
        words = pronouns = persons = long = inside = 0
    }
    function take(text, word) {
        if (text ~ /SPDX-License-Identifier|Copyright/)
            return
        is_comment = 1
        text = tolower(text)
        gsub(/@[a-z]+/, "", text)
        while (match(text, /[a-z][a-z\047]*/)) {
            word = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            words++
            sub(/\047.*/, "", word)
            pronouns += word in pronoun
            persons += word in person
        }
    }
    FNR == 1 { report() }
    {
        rest = $0
        is_comment = 0
        while (rest != "" || inside) {
            if (inside) {
                end = index(rest, "*/")
                take(end ? substr(rest, 1, end - 1) : rest)
                rest = end ? substr(rest, end + 2) : ""
                if (!end)
                    break
                inside = 0
            } else if (match(rest, /"(\\.|[^"\\])*"|\047(\\.|[^\047\\])*\047|\/\*|\/\//)) {
                start = substr(rest, RSTART, 2)
                rest = substr(rest, RSTART + RLENGTH)
                if (start == "//") {
                    take(rest)
                    break
                }
                inside = start == "/*"
            } else
                break
        }
        long += is_comment && length($0) > 100
    }
    END { report() }' "$@"
}

# word_verdicts PENDING: reads word_counts; prints "worse" and a file beyond a bound, the worst first, or "better" and a folder of the file PENDING
# that is within all of them
word_verdicts() {
    awk -v list="$1" '
    BEGIN {
        while ((getline line < list) > 0)
            pending[line]
    }
    {
        folder = $1
        sub(/\/[^\/]*$/, "", folder)
        rate = $3 / ($2 ? $2 : 1)
        if ($4 || $5 || ($2 >= 30 && $3 > 0.07 * $2)) {
            beyond[folder]
            if (!(folder in pending))
                printf "worse %05.1f %s: %d words of comments, %.1f %% pronouns (bound 7), %d who (0), %d lines over 100 columns (0)\n",
                    100 * rate + 100 * $4, $1, $2, 100 * rate, $4, $5
        }
    }
    END {
        for (folder in pending)
            if (!(folder in beyond))
                print "better 0", folder
    }' | sort -r | sed -E 's/^([a-z]+) [0-9.]+/\1/'
}

# long_sentences FILE...: the sentences of more than 40 words in comments, each with its file and the line where it begins. A blank line, a row
# of a list and a line that begins with @ end a sentence.
long_sentences() {
    awk '
    function report() {
        if (words > 40)
            printf "%s:%d: a sentence of %d words (40)\n", file, line, words
        words = 0
    }
    function take(text, n, word, i) {
        sub(/^[\/ *<]*/, "", text)
        if (text == "" || text ~ /^(-|@|KEEL_[A-Z_]+  )/)
            report()
        n = split(text, word, " ")
        for (i = 1; i <= n; i++) {
            if (words++ == 0) {
                file = FILENAME
                line = FNR
            }
            if (word[i] ~ /[.?!]\)?$/)
                report()
        }
    }
    {
        rest = $0
        if (!inside && match(rest, /\/\*/)) {
            inside = 1
            rest = substr(rest, RSTART)
        }
        if (inside) {
            end = match(rest, /\*\//)
            take(end ? substr(rest, 1, RSTART - 1) : rest)
            if (end) {
                inside = 0
                report()
            }
        }
    }' "$@"
}

# page_counts FILE...: a line for each: its name, words of its text, pronouns. Code, blocks of code and addresses of links are left out.
page_counts() {
    awk -v pronouns_known="$pronouns" '
    BEGIN {
        split(pronouns_known, list, " ")
        for (i in list)
            pronoun[list[i]] = 1
    }
    function report() {
        if (file != "")
            print file, words + 0, pronouns + 0
        file = FILENAME
        words = pronouns = inside = 0
    }
    FNR == 1 { report() }
    /^ *```/ { inside = !inside; next }
    inside || /^    / { next }
    {
        text = tolower($0)
        gsub(/`[^`]*`/, " ", text)
        gsub(/\]\([^)]*\)/, "]", text)
        while (match(text, /[a-z][a-z\047]*/)) {
            word = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            words++
            sub(/\047.*/, "", word)
            pronouns += word in pronoun
        }
    }
    END { report() }' "$@"
}

# page_verdicts: reads page_counts, and prints pages beyond the bound
page_verdicts() {
    awk '$2 >= 30 && $3 > 0.08 * $2 { printf "%s: %d words, %.1f %% pronouns (bound 8)\n", $1, $2, 100 * $3 / $2 }'
}

# Pages name their objects, too: at most 8 % of the words of a page are pronouns.
lint_pages() {
    local sample text
    local -a pages
    sample=$(mktemp -d) || exit 1
    {
        echo "It is \`that\` of [which](what.md) whose xy"
        printf '%s\n' '```' 'it it' '```' '    it it'
        printf 'of %.0s' {1..26}
        echo
    } > "$sample/bad.md"
    [ "$(page_counts "$sample/bad.md")" = "$sample/bad.md 32 3" ] || complain "page_counts miscounts: $(page_counts "$sample/bad.md")"
    rm -r "$sample"
    [ "$(printf '%s\n' 'a.md 100 9' 'b.md 100 8' 'c.md 29 9' | page_verdicts | cut -d' ' -f1)" = a.md: ] || complain "page_verdicts misjudges"
    # of a copy without git, all but what is built
    mapfile -t pages < <(git ls-files '*.md' 2> /dev/null || find . -path './build*' -prune -o -name '*.md' -print)
    [ ${#pages[@]} -ge 60 ] || complain "only few pages were found"
    while read -r text; do
        complain "$text"
    done < <(page_counts "${pages[@]}" | page_verdicts)
}

# Comments name their objects: at most 7 % of the words are pronouns (files of 30 words and more), no rank is a "who", and no line is longer
# than 100 columns. tests/lint/words_pending lists the folders (without the ones below them) that are not there yet. In the interface no
# sentence has more than 40 words.
lint_words() {
    local sample verdict text pending=tests/lint/words_pending
    local -a files
    sample=$(mktemp -d) || exit 1
    {
        echo '/* Copyright who whom whose */'
        echo "char text[] = \"/* it */\"; // it: that's $(printf ' xy%.0s' {1..26})"
        echo "int a; /* $(printf 'of %.0s' {1..40}) */"
        echo '/* the rank, who'
        echo ' * has it */'
    } > "$sample/bad.c"
    [ "$(word_counts "$sample/bad.c")" = "$sample/bad.c 73 4 1 2" ] ||
        complain "word_counts miscounts a bad comment: $(word_counts "$sample/bad.c")"
    printf '%s\nlisted\n' "$sample/none" > "$sample/pending"
    [ "$(printf '%s\n' 'a/x.c 30 3 0 0' 'a/y.c 29 9 0 0' 'a/z.c 9 0 1 0' 'b/v.c 9 0 0 1' 'listed/w.c 30 30 0 0' 'c/u.c 99 6 0 0' |
        word_verdicts "$sample/pending" | cut -d: -f1)" = "worse a/z.c
worse a/x.c
worse b/v.c
better $sample/none" ] || complain "word_verdicts misjudges"
    {
        echo "/** $(printf 'of %.0s' {1..40})end."
        echo ' * Short.'
        echo ' *'
        echo " * $(printf 'of %.0s' {1..30})"
        echo " * - $(printf 'of %.0s' {1..30}) */"
        echo "int a; /* $(printf 'of %.0s' {1..41}) */"
    } > "$sample/long.c"
    [ "$(long_sentences "$sample/long.c" | sed 's/.*long.c:\([0-9]*\): a sentence of \([0-9]*\) .*/\1 \2/' | tr '\n' ' ')" = '1 41 6 41 ' ] ||
        complain "long_sentences miscounts: $(long_sentences "$sample/long.c")"
    rm -r "$sample"
    while read -r text; do
        complain "$text"
    done < <(long_sentences include/keel/*.h include/keel/*.h.in)
    mapfile -t files < <(sources '*.c' '*.h' '*.cc' '*.h.in')
    [ ${#files[@]} -gt 0 ] || complain "no sources"
    while read -r verdict text; do
        case $verdict in
        worse) complain "$text" ;;
        better) complain "$text keeps the bounds: take it out of $pending" ;;
        esac
    done < <(word_counts "${files[@]}" | word_verdicts "$pending")
}

# each test belongs to one tier (tests/README.md), and each check of this file is a test
lint_tiers() {
    local pair labels test
    for pair in "-LE ^(check|deep|long)$" "-L ^check$ -L ^(deep|long)$" "-L ^deep$ -L ^long$"; do
        read -ra labels <<< "$pair"
        for test in $(ctest --test-dir "$build" -N "${labels[@]}" | sed -n 's/^ *Test *#[0-9]*: //p'); do
            complain "$test: one label of check, deep and long is wanted; its match: ${labels[*]}"
        done
    done
    [ "$(ctest --test-dir "$build" -N | grep -c '^ *Test *#')" -ge 100 ] || complain "only few tests were found"
    for test in $(declare -F | sed -n 's/^declare -f \(lint_\)/\1/p'); do
        ctest --test-dir "$build" -N | grep -q ": $test\$" || complain "$test is no test (tests/lint/CMakeLists.txt)"
    done
}

# messages_compared PAGE: reads messages as contrib/lib/messages prints them. Prints those without a row in the page, and rows without a
# message. In a row * is any text; a row with few letters fits only the message that is the same.
messages_compared() {
    # shellcheck disable=SC2016 # for awk
    awk -v page="$1" '
    function form(text) {
        gsub(/[][\\.^$+?(){}|]/, "\\\\&", text)
        gsub(/\*/, ".*", text)
        return "^" text "$"
    }
    BEGIN {
        while ((getline line < page) > 0) {
            if (line !~ /^\| `/)
                continue
            line = substr(line, 1, index(line, " | "))
            while (match(line, /`[^`]*`/)) {
                row[++count] = plain = substr(line, RSTART + 1, RLENGTH - 2)
                forms[count] = form(plain)
                is_long[count] = gsub(/[A-Za-z=]/, "", plain) >= 8
                line = substr(line, RSTART + RLENGTH)
            }
        }
    }
    {
        known = 0
        for (i = 1; i <= count; i++)
            if ($0 == row[i] || (is_long[i] && $0 ~ forms[i]))
                known = used[i] = 1
        if (!known)
            print "no row for: " $0
    }
    END {
        for (i = 1; i <= count; i++)
            if (!used[i])
                print "no message like: " row[i]
    }'
}

# of_the_protocol: those of the lines read that have a word which only the protocol's pages explain
of_the_protocol() {
    grep -iwE 'fronts?|generations?|positions?|hand(s|ed|ing)? .*over|hand-overs?'
}

# the guide has a row for each message, and an operator understands the reasons in the lines about deaths
lint_messages() {
    local page=contrib/doc/guide/messages.md line
    [ "$(printf '%s\n' 'ranks of * generations' 'it had not handed its atomics over' 'lost in front' 'a composition' | of_the_protocol | wc -l)" -eq 3 ] ||
        complain "of_the_protocol misses a word, or takes a part of a word"
    [ "$(contrib/lib/messages --reasons | wc -l)" -ge 30 ] || complain "contrib/lib/messages finds only few reasons"
    while read -r line; do
        complain "a reason at the default level has a word of the protocol: $line"
    done < <(contrib/lib/messages --reasons | of_the_protocol)
    [ "$(printf '%s\n' 'a * of no kind' 'malformed egg from rank * refused' | messages_compared "$page" | head -1)" = 'no row for: a * of no kind' ] ||
        complain "messages_compared misses a message"
    [ "$(echo 'malformed egg from rank * refused' | messages_compared "$page" | grep -c '^no row')" -eq 0 ] ||
        complain "messages_compared misses a row"
    [ "$(contrib/lib/messages | wc -l)" -ge 400 ] || complain "contrib/lib/messages finds only few messages"
    while read -r line; do
        complain "$page: $line"
    done < <(contrib/lib/messages | messages_compared "$page")
}

# names declared KEEL_API, the version script and what the libraries export are the same
lint_symbols() {
    local declared mapped exported foreign file
    declared=$(cat include/keel/*.h | tr '\n' ' ' | grep -oE 'KEEL_API [^;(]*\(' | grep -oE 'keel_[a-z0-9_]+ *\($' |
        tr -d ' (' | sort)
    mapped=$(grep -oE '^ +keel_[a-z0-9_]+;' src/libkeel.map | tr -d ' ;' | sort)
    [ "$declared" = "$mapped" ] || complain "headers (<) and src/libkeel.map (>) differ:
$(diff <(echo "$declared") <(echo "$mapped"))"
    if [ ! -f "$build/src/libkeel.so" ]; then
        complain "no $build/src/libkeel.so"
    else
        exported=$(nm -D --defined-only "$build/src/libkeel.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
        [ "$declared" = "$exported" ] || complain "headers (<) and libkeel.so (>) differ:
$(diff <(echo "$declared") <(echo "$exported"))"
    fi
    if [ -f "$build/src/libkeel.a" ]; then
        foreign=$(nm -g --defined-only "$build/src/libkeel.a" 2> /dev/null | awk 'NF == 3 && $3 !~ /^keel_/ { print $3 }' |
            grep -vE '^_?_?(asan|odr_asan|ubsan)')
        [ -z "$foreign" ] || complain "symbols in libkeel.a without the prefix keel_: $foreign"
    fi
    # what the oracle is tested with is in nothing that is installed, and defined for the tests' own copy only
    for file in "$build"/src/libkeel.{a,so} "$build"/src/tools/keel_info "$build"/contrib/keelrun/keelrun; do
        [ ! -f "$file" ] || ! nm "$file" 2> /dev/null | grep -q keel_planted || complain "$file has planted defects"
    done
    for file in $(grep -rl KEEL_PLANTED_DEFECTS CMakeLists.txt CMakePresets.json .ci include src transports perf contrib tests); do
        case $file in
        src/check/plant.h | src/check/reached.h | tests/sim/* | tests/lint/lint.sh) ;;
        *) complain "$file must not know of KEEL_PLANTED_DEFECTS" ;;
        esac
    done
}

# plant_blocks FILE...: conditions that are false without planted defects, whatever else holds
plant_blocks() {
    awk '
        function value(text, i, j, n, m, terms, factors) { # 1: may hold; P is false, everything else may hold
            if (sub(/^[^?]*\?/, "", text)) gsub(/:/, "||", text)
            n = split(text, terms, /\|\|/)
            for (i = 1; i <= n; i++) {
                m = split(terms[i], factors, /&&/)
                for (j = 1; j <= m && factors[j] !~ /^ *P *$/; j++) {}
                if (j > m) return 1
            }
            return 0
        }
        function look(text, before) {
            if (text ~ /;/) { # of a loop, the condition
                sub(/^[^;]*;/, "(", text)
                sub(/;.*/, ")", text)
                sub(/^\( *\)$/, "(1)", text)
            }
            gsub(/KEEL_PLANT\([a-z_0-9]+\)/, "P", text)
            gsub(/!P/, "1", text)
            while (match(text, /(!|[A-Za-z0-9_]+|sizeof)?\([^()]*\)/)) { # calls, negated and other parentheses, inner first
                before = substr(text, RSTART, RLENGTH)
                text = substr(text, 1, RSTART - 1) ((before !~ /^\(/ || value(substr(before, 2, length(before) - 2))) ? "1" : "P") \
                    substr(text, RSTART + RLENGTH)
            }
            if (text == "P") print FILENAME ":" line ": only a planted defect enters this block"
        }
        function depth(text) { return gsub(/\(/, "", text) - gsub(/\)/, "", text) }
        open == "" && match($0, /(^|[ }])(if|while|for|switch) \(/) { line = FNR; open = substr($0, RSTART + RLENGTH - 1) }
        open != "" && line != FNR { open = open $0 }
        open != "" && depth(open) <= 0 || open ~ /\{$/ {
            for (at = 1; depth(substr(open, 1, at)) > 0; at++) {}
            look(substr(open, 1, at)); open = ""
        }
    ' "$@"
}

# The planted defects of src/check/plant.h: the name of each begins with that of a file where it stands, the record has it,
# and none is a block of statements.
lint_planted() {
    local name file
    local -A at
    while IFS=: read -r file name; do
        file=${file##*/} name=${name#*\(}
        [ "${name#"${file%.*}_"}" = "$name" ] || at[$name]=$file
    done < <(grep -roE --include='*.[ch]' 'KEEL_PLANT(_CALL)?\([a-z_0-9]+' src transports contrib)
    for name in $(sed -nE 's/^ +_\(([a-z_0-9]+),.*/\1/p' src/check/plant.h); do
        [ -n "${at[$name]-}" ] || complain "src/check/plant.h: $name does not begin with the name of a file where it stands"
        grep -qw "$name" tests/records/planted.md || complain "tests/records/planted.md does not have $name"
    done
    [ "$(printf 'if (a && (b ||\n  KEEL_PLANT(c))) {\nfor (;;) {\nfor (a = 0; a < 3; a++) {\nif (!a || !(b && KEEL_PLANT(c))) {\n' | plant_blocks)" = "" ] ||
        complain "lint_planted refuses a term of a condition"
    [ "$(printf 'if (a &&\n  KEEL_PLANT(c)) {\n} else if (KEEL_PLANT(a) || KEEL_PLANT(b)) {\nfor (a = 0; KEEL_PLANT(c); a++) {\n' | plant_blocks | wc -l)" = 3 ] ||
        complain "lint_planted does not see the block of a plant"
    # shellcheck disable=SC2046 # no name has a space
    file=$(plant_blocks $(grep -rlF --include='*.[ch]' 'KEEL_PLANT(' src transports contrib))
    [ -z "$file" ] || complain "$file"
}

# beside_ucp LIBRARY: what it takes of UCS, UCT and UCM that it must not. They are no interface: their structures and arguments
# change under one soname. Status strings are the exception.
beside_ucp() {
    nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -E '^uc[stm]_' | grep -vxE 'ucs_status_string'
}

lint_ucx() {
    local file probe
    probe=$(mktemp -d) || exit 1
    printf 'void *ucs_mpool_get(void *); void *keel_probe(void *p) { return ucs_mpool_get(p); }\n' > "$probe/probe.c"
    cc -shared -fPIC -o "$probe/probe.so" "$probe/probe.c"
    [ "$(beside_ucp "$probe/probe.so")" = ucs_mpool_get ] || complain "lint_ucx does not see a symbol of UCS in a library"
    rm -r "$probe"
    [ -f "$build/src/libkeel.so" ] || complain "no $build/src/libkeel.so"
    for file in $(find "$build/src" -name 'libkeel*.so' | sort); do
        [ -z "$(beside_ucp "$file")" ] || complain "$file uses $(beside_ucp "$file" | tr '\n' ' ')"
    done
    # ucs/datastruct/list.h is inline functions only, the same from UCX 1.12 on
    file=$(grep -rnE --include='*.[ch]' '^ *# *include *[<"](uct|ucs|ucm)/' include src transports perf tests contrib | grep -vE '[<"]ucs/(datastruct/list|type/status)\.h[>"]')
    [ -z "$file" ] || complain "headers of UCX that are no interface: $file"
}

declare -F "lint_$check" > /dev/null || {
    echo "lint.sh: unknown check '$check'"
    exit 2
}
"lint_$check"
exit $bad
