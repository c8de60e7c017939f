#!/bin/bash
# What contrib/demo says of the cost of a death: demo_cost.sh SOURCES
set -u

# shellcheck source=contrib/lib/cost.sh
. "$1/contrib/lib/cost.sh"

says() # WITHOUT WITH SENTENCE
{
    [ "$(cost_of_a_death "$1" "$2")" = "$3" ] || { echo "'$1' and '$2': $(cost_of_a_death "$1" "$2")"; exit 1; }
}

says "1000 900 1100" "1500 1400 1600" "the death cost 500 ms (medians of 3 runs each, in turn; those without one differ by 200 ms)"
# a slow first run is one of three
says "3000 1000 1010" "1500 1490 1510" "the death cost less than the 2000 ms by which runs without one differ (medians of 3 each, in turn)"
# deaths that seem to have gained time have not
says "1000 1010 1020" "900 910 920" "the death cost less than the 20 ms by which runs without one differ (medians of 3 each, in turn)"
# ... nor is anything less than 0 ms, in no case a minus
says "1000 1000 1000" "1000 990 1000" "the death cost less than can be measured (medians of 3 runs each, in turn)"
for with in 0 1 999 1000 1001 5000; do
    for without in "1000 1000" "1 1000" "1000 5000 2000" "7"; do
        ! cost_of_a_death "$without" "$with $with $with" | grep -qE -- '-[0-9]|less than the 0 ms' ||
            { echo "'$without' and '$with': $(cost_of_a_death "$without" "$with $with $with")"; exit 1; }
    done
done
says "1000" "900" "of one run each it cannot be said what the death cost"
[ "$(median 9 10 1 8) $(median 7)" = "8 7" ] || { echo "wrong median"; exit 1; }
