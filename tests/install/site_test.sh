#!/bin/bash
# Makes the site and visits it with headless Chromium: site_test.sh SOURCES MAN_DIRECTORY. No link may lead nowhere, no picture may be missing, nothing may
# be loaded from elsewhere, and the search has to find a word. Status 77 without the tools.
set -u

sources=$1 man=$2
[ -d "$man/man3" ] || man=
scratch=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT
command -v chromium >/dev/null || { echo "skipped: no chromium"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3 to serve the site"; exit 77; }

# visited: the result of site_check.html
visited()
{
    timeout 600 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" --timeout=500000 \
        --virtual-time-budget=400000 --dump-dom "http://127.0.0.1:$port/check.html" 2>"$scratch/chromium" |
        sed -n '/<pre id="result">/,/<\/pre>/p' | sed 's/<[^>]*>//g; s/&gt;/>/g; s/&amp;/\&/g'
}

"$sources/contrib/site" "$scratch/site" ${man:+"$man"} >"$scratch/out" 2>&1
status=$?
[ $status -eq 0 ] || { cat "$scratch/out"; exit $status; }
# options keep their dashes
if grep -rnE '(>|[ (])–[a-z]' --include='*.html' "$scratch/site" | head -3 | grep .; then
    exit 1
fi
cp "$sources/tests/install/site_check.html" "$scratch/site/check.html"
python3 -u -m http.server --bind 127.0.0.1 --directory "$scratch/site" 0 >"$scratch/served" 2>&1 &
server=$!
while ! port=$(grep -oE 'port [0-9]+' "$scratch/served") && kill -0 $server; do
    sleep 0.1
done
port=${port#port }

visited >"$scratch/result"
wrong=$(grep -vE '^(sums|search): |^end$|^$' "$scratch/result")
sums=$(grep -oE '[0-9]+ pages, [0-9]+ links, [0-9]+ pictures' "$scratch/result" | tr -dc '0-9 ')
hits=$(sed -n 's/^search: //p' "$scratch/result")
if ! grep -qx end "$scratch/result" || [ -n "$wrong" ]; then
    cat "$scratch/result" "$scratch/chromium"
    exit 1
fi
man_pages=0
if [ -n "$man" ] && command -v pandoc >/dev/null; then
    man_pages=20
fi
read -r pages links pictures <<<"$sums"
echo "$pages pages, $links links, $pictures pictures; the search finds ${hits% *} pages"
if [ "$pages" -lt $((man_pages + 60)) ] || [ "$links" -lt 1000 ] || [ "$pictures" -lt 12 ]; then
    echo "the site is too small"
    exit 1
fi
if [ "${hits% *}" -lt 2 ] || [ "${hits#* }" -ne 0 ]; then
    echo "the search finds ${hits% *} pages with a word, and ${hits#* } with a word of no page"
    exit 1
fi

# the check notices a broken link and a missing picture
sed -i 's/<\/body>/<a href="nowhere.html">x<\/a><a href="index.html#nowhere">x<\/a><img src="none.svg"><\/body>/' "$scratch/site/index.html"
visited >"$scratch/result"
for line in 'no page: /index.html links to /nowhere.html' 'no place: /index.html links to /index.html#nowhere' 'no picture: /index.html has /none.svg'; do
    grep -qxF "$line" "$scratch/result" || { cat "$scratch/result"; echo "the check does not notice: $line"; exit 1; }
done
