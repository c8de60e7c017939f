#!/bin/bash
# Runs the commands of a page of the guide (contrib/doc/guide) against an installed Keel:
#   guide_test.sh --install CMAKE BUILD HOME     installs into HOME/keel, and nothing else is there
#   guide_test.sh HOME PAGE                      runs the page in a new folder
# Fences of a page: ```sh test: commands, all of a page in one shell; ```sh test setup: of the first page, they come before those of
# every page; ```text expect: what the commands before print, in any order of lines, where * is any text, and a line ... any lines;
# ```c file NAME, ```sh file NAME: a file, in the folder of the page; ```sh test NEEDS PROGRAM: commands that are left out without
# the program. There are no others.
set -u

if [ "$1" = --install ]; then
    rm -rf "$4" && mkdir -p "$4" && exec "$2" --install "$3" --prefix "$4/keel"
fi
home=$1 page=$2 first=${2%/*}/first.md
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/blocks" "$scratch/work" || exit 1

fail()
{
    echo "$page: $*"
    exit 1
}

# split PAGE KINDS: the fenced blocks of a page with a first line that matches, a file each: number and kind
split()
{
    awk -v kinds="$2" -v folder="$scratch/blocks" -v work="$scratch/work" -v page="${1##*/}" '
        /^```/ && !inside {
            inside = 1
            kind = substr($0, 4)
            out = ""
            if (kind !~ kinds)
                next
            out = sprintf("%s/%02d", folder, number++)
            print kind > (out ".kind")
            printf "" > out
            next
        }
        /^```/ { inside = 0; if (out != "") close(out); next }
        inside && out != "" { print > out }' "number=$number" "$1"
    number=$(find "$scratch/blocks" -name '*.kind' | wc -l)
}

number=0
if [ "$page" != "$first" ]; then
    split "$first" '^(sh test setup|c file .*)$'
fi
split "$page" '.'
[ "$number" -gt 0 ] || fail "no blocks"

# the blocks become one script: commands write to files, a file for each block
{
    echo "set -eu; cd $scratch/work"
    for kind in "$scratch"/blocks/*.kind; do
        block=${kind%.kind}
        read -ra words <"$kind"
        case ${words[*]} in
        'c file '* | 'sh file '* | 'text file '*) echo "cp $block $scratch/work/${words[2]}; chmod +x $scratch/work/${words[2]}" ;;
        'sh test' | 'sh test setup') echo "echo running $block; . $block >$block.out 2>&1" ;;
        'sh test needs '*)
            # shellcheck disable=SC2016 # for the script
            echo "if command -v ${words[3]} >/dev/null; then echo running $block; . $block >$block.out 2>&1; fi"
            ;;
        'text expect') ;;
        *) fail "a block of another kind: ${words[*]}" ;;
        esac
    done
    echo "echo whole"
} >"$scratch/script" || exit 1
env -i HOME="$home" PATH=/usr/local/bin:/usr/bin:/bin \
    bash "$scratch/script" >"$scratch/steps" 2>&1
if ! grep -qx whole "$scratch/steps"; then
    last=$(sed -n 's/^running //p' "$scratch/steps" | tail -1)
    cat "$scratch/steps" "$last" "$last.out" 2>/dev/null
    fail "these commands failed"
fi

# is_as_expected EXPECTED OUTPUT: prints the lines that differ
is_as_expected()
{
    awk '
        function pattern(text) {
            gsub(/[][\\.^$+?(){}|]/, "\\\\&", text)
            gsub(/\*/, ".*", text)
            return "^" text "$"
        }
        NR == FNR { if ($0 == "...") others = 1; else { wanted[++count] = $0; form[count] = pattern($0) } next }
        {
            known = 0
            for (i = 1; i <= count; i++)
                if ($0 ~ form[i]) { known = 1; if (!found[i]) { found[i] = 1; break } }
            if (!known && !others)
                print "not expected: " $0
        }
        END {
            for (i = 1; i <= count; i++)
                if (!found[i])
                    print "missing: " wanted[i]
        }' "$1" "$2"
}

checked=0 last=
for kind in "$scratch"/blocks/*.kind; do
    block=${kind%.kind}
    if grep -q '^sh test' "$kind"; then
        last=$block
    elif [ "$(cat "$kind")" = 'text expect' ]; then
        [ -n "$last" ] || fail "a block is expected of no commands"
        [ -e "$last.out" ] || continue # left out
        differing=$(is_as_expected "$block" "$last.out")
        [ -z "$differing" ] || {
            echo "$differing"
            cat "$last" "$last.out"
            fail "other output than the page has"
        }
        checked=$((checked + 1))
    fi
done
[ $checked -gt 0 ] || fail "no output is compared"
