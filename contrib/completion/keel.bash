# shellcheck shell=bash
# Completion of Keel's tools in bash: options are those that the tool's --help prints. Installed under the name of each tool.

# _keel_help TOOL: option lines of the help: names, and a value if there is one
_keel_help()
{
    "$1" --help 2>/dev/null | sed -n 's/^ \{1,8\}\(-[^ ].*\)/\1/p' | sed 's/   *.*//'
}

# _keel_values TOOL OPTION: the words that a value may be; nothing where it is a number or a file
_keel_values()
{
    case $1,$2 in
        *run,--map) echo block cyclic ;;
        *run,--output) echo once all ;;
        keel-oshrun,--launcher) echo keelrun mpirun prterun srun ;;
        keel-mpi*,--mpi) echo openmpi mpich ;;
        keel_info,-F) echo text json svg ;;
        keel_plan,--placement) echo keel aligned neighbours ;;
        keel_perftest,-P) echo none ckpt puts gets all ;;
        keel_perftest,-x) echo auto shm tcp ;;
        keel_perftest,--pattern) echo one star all random neighbours ;;
        keel_perftest,--vs) echo ucx stores memcpy ;;
        keel_perftest,-t) keel_perftest --help 2>/dev/null | sed -n 's/^ \{8,\}\([a-z_]*\) - .*/\1/p' ;;
    esac
}

# _keel_has_program HELP: true if a word ahead of the one that is completed is the program, whose own words follow
_keel_has_program()
{
    local at

    for ((at = 1; at < COMP_CWORD; at++)); do
        [[ ${COMP_WORDS[at]} == -* ]] || return 0
        [[ ${COMP_WORDS[at]} == *=* ]] || ! grep -qE -- "(^|[ ,])${COMP_WORDS[at]}(,.*)? [^- ]" <<<"$1" || ((at++))
    done
    return 1
}

_keel()
{
    local tool=${COMP_WORDS[0]} name=${COMP_WORDS[0]##*/} word=${COMP_WORDS[COMP_CWORD]} values help

    COMPREPLY=()
    help=$(_keel_help "$tool")
    [[ $name != *run && $name != keel-preload ]] || ! _keel_has_program "$help" || return 0
    values=$(_keel_values "$name" "${COMP_WORDS[COMP_CWORD - 1]}")
    if [ -z "$values" ] && [[ $word == -* ]]; then
        values=$(grep -oE -- '(^|[ ,])--?[A-Za-z][A-Za-z:-]*' <<<"$help" | tr -d ' ,')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
}

complete -o bashdefault -o default -F _keel keelrun keel_info keel_plan keel_perftest keel-oshrun keel-oshcc keel-oshc++ \
    keel-mpirun keel-mpicc keel-preload keel_preload_sum keel_files keel_trace
