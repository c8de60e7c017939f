# Sourced by contrib/demo: what a death cost, from runs of two kinds that took turns.
# shellcheck shell=bash

# median NUMBERS...: the lower one of two in the middle
median()
{
    printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

# spread NUMBERS...: the largest less the smallest
spread()
{
    printf '%s\n' "$@" | sort -n | sed -n '1p;$p' | paste -sd' ' | { read -r least most; echo $((most - least)); }
}

# cost_of_a_death "MILLISECONDS... without" "MILLISECONDS... with": a sentence. Never a negative time: below what runs of one kind
# differ by, nothing can be said but that.
cost_of_a_death()
{
    local cost noise count
    local -a quiet killed

    read -ra quiet <<<"$1"
    read -ra killed <<<"$2"
    count=${#quiet[@]}
    cost=$(($(median "${killed[@]}") - $(median "${quiet[@]}")))
    noise=$(spread "${quiet[@]}")
    if [ "$count" -lt 2 ]; then
        echo "of one run each it cannot be said what the death cost"
    elif [ "$cost" -le 0 ] && [ "$noise" -eq 0 ]; then
        echo "the death cost less than can be measured (medians of $count runs each, in turn)"
    elif [ "$cost" -le 0 ] || [ "$cost" -lt "$noise" ]; then
        echo "the death cost less than the $noise ms by which runs without one differ (medians of $count each, in turn)"
    else
        echo "the death cost $cost ms (medians of $count runs each, in turn; those without one differ by $noise ms)"
    fi
}
