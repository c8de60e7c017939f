# Expressions of grep for Keel's lines about survived deaths: what followed, and the sums at the end. Sourced.
# shellcheck shell=bash disable=SC2034
outcome_ranks='\(ranks\?\|parity ranks\?\) [0-9, -]*\( and [0-9]* more\)\?'
outcome_deaths="$outcome_ranks died\( on [^;(]*\)\?\( ([0-9]* deaths)\)\?; "
outcome_time='[0-9.]* m\?s'
outcome_local="^keel: ${outcome_deaths}recovered in $outcome_time: [0-9]* put records\? replayed\( from the program's start\|, \(checkpoint [1-9][0-9]*\|its own newer checkpoint\) ([0-9.]* [A-Za-z]*) rebuilt from $outcome_ranks\)\?; other ranks kept their state\$"
outcome_rollback="^keel: \($outcome_deaths\)\?all ranks rolled back to \(checkpoint [1-9][0-9]*\|the program's start\) ($outcome_time of work lost): rank [0-9]*: ."
outcome_sums='^keel: [1-9][0-9]* deaths\?, [0-9]* recovered locally, [0-9]* rollbacks\?, [0-9]* checkpoints\?\(, log peak [0-9.]*\( KiB\)\? of [0-9]* [KM]iB\)\?$'
