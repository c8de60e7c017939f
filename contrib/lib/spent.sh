# shellcheck shell=bash
# Sourced by contrib/check: what each label costs, in processor seconds of a machine of a known speed, and what it may cost.
#
# Processor seconds and not time: other programs on the machine make tests take longer, and cost them little more. The machine's
# speed is measured by a loop whose cost on the reference machine is known. Jobs of more processes than cores also spend
# processor time while they wait, so a cost above its budget is a warning; contrib/check --budget makes it a failure.

spent_reference_ms=1000 # spent_speed on the reference machine
spent_rows=()          # "LABEL SECONDS CENTISECONDS-OF-PROCESSORS"

# spent_now: sets `spent` to the processor time, in 1/100 s, of all processes that this shell has waited for
spent_now() {
    local -a stat

    read -ra stat < "/proc/$$/stat"
    spent=$(((stat[15] + stat[16]) * 100 / $(getconf CLK_TCK)))
}

# spent_speed: sets `speed_ms` to the milliseconds of processor time of a loop that is always the same
spent_speed() {
    local before

    spent_now
    before=$spent
    (for ((i = 0; i < 1000000; i++)); do :; done)
    spent_now
    speed_ms=$(((spent - before) * 10))
    [ $speed_ms -gt 0 ] || speed_ms=$spent_reference_ms
}

# spent_begin: what runs from here to spent_end belongs to one label
spent_begin() {
    spent_now
    spent_from=$spent spent_since=$SECONDS
}

# spent_end LABEL
spent_end() {
    spent_now
    spent_rows+=("$1 $((SECONDS - spent_since)) $((spent - spent_from))")
}

# spent_report TIER BUDGETS: prints a line for each label; status 1 when one cost half as much again as BUDGETS, lines of
# "TIER LABEL SECONDS", allow
spent_report() {
    local tier=$1 budgets=$2 before=$speed_ms row label seconds cost budget scaled note over=0

    spent_speed # the mean of two, for the machine may have been busier at one end
    speed_ms=$(((before + speed_ms) / 2))
    printf '   %-16s %8s %12s %12s %8s\n' label seconds processors "of reference" budget
    for row in "${spent_rows[@]}"; do
        read -r label seconds cost <<< "$row"
        scaled=$((cost * spent_reference_ms / speed_ms / 100))
        budget=$(awk -v tier="$tier" -v label="$label" '$1 == tier && $2 == label { print $3 }' "$budgets")
        note=
        if [ -n "$budget" ] && [ $((scaled * 2)) -gt $((budget * 3)) ]; then
            note=' more than half as much again'
            over=1
        fi
        printf '   %-16s %6d s %10d s %10d s %8s%s\n' "$label" "$seconds" $((cost / 100)) "$scaled" "${budget:--}" "$note"
    done
    return $over
}
