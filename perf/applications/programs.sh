#!/bin/bash
# shellcheck disable=SC2034 # command is read by those that source this
# The applications of Debian's packages, for those that source this. Of NAME: NAME_make RANKS writes the input into the folder of the
# job; NAME_command MPI sets command, with status 1 where the program is not there; NAME_result OUTPUT prints from the folder and the
# output what is the same in each run.

all_names='lammps nwchem scalapack_qr scalapack_lu hpcc'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# linked PROGRAM MPI: sets command where the program is there and linked to this MPI
linked()
{
    local program

    program=$(type -P -- "$1") || return 1
    case $2:$(ldd "$program") in
    openmpi:*libmpi.so* | mpich:*libmpich.so*) command=("$program") ;;
    *) return 1 ;;
    esac
}

# table_read FILE: other programs instead, a row each: NAME|COMMAND|EXPRESSION
declare -A table_words table_results
table_read()
{
    local name words expression

    all_names=''
    while IFS='|' read -r name words expression; do
        case $name in
        '' | \#*) continue ;;
        [0-9]* | *[!A-Za-z0-9_]*) expression='' ;;
        esac
        [ -n "$words" ] && [ -n "$expression" ] || { echo "$1: not NAME|COMMAND|EXPRESSION: $name" >&2 && return 1; }
        table_words[$name]=$words table_results[$name]=$expression
        eval "${name}_make() { :; }"
        eval "${name}_command() { table_command $name \"\$1\"; }"
        eval "${name}_result() { grep -oE -e \"\${table_results[$name]}\" \"\$1\"; }"
        all_names+=" $name"
    done <"$1"
    [ -n "$all_names" ] || { echo "$1: no rows" >&2 && return 1; }
}
table_command() # NAME MPI
{
    local words

    read -r -a words <<<"${table_words[$1]//'{mpi}'/$2}"
    linked "${words[0]}" "$2" && command+=("${words[@]:1}")
}

# the mpirun of an MPI, and the options that it takes on few cores
mpirun_of()
{
    mpirun=$(type -P "mpirun.$1" || type -P mpirun) || return 1
    mpirun=("$mpirun")
    [ "$1" != openmpi ] || mpirun+=(--oversubscribe)
}

# the two factors of a number that differ least: sets rows and columns
grid_of()
{
    for ((rows = 1, columns = $1, i = 2; i * i <= $1; i++)); do
        [ $(($1 % i)) -ne 0 ] || { rows=$i && columns=$(($1 / i)); }
    done
}

lammps_make()
{
    cat >lj.in <<'END_OF_INPUT'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
thermo 100
run 600
END_OF_INPUT
}
lammps_command() { linked lmp "$1" && command+=(-in lj.in -log none); }
lammps_result() { awk '$1 == 100 && NF > 3' "$1"; }

nwchem_make()
{
    cat >water.nw <<'END_OF_INPUT'
start water
geometry noautosym
  O 0.0 0.0 0.0
  H 0.0 0.757 0.587
  H 0.0 -0.757 0.587
end
basis
  * library 6-31g**
end
task scf energy
END_OF_INPUT
}
nwchem_command() { { linked "nwchem.$1" "$1" || linked nwchem "$1"; } && command+=(water.nw); }
nwchem_result() { awk '/Total SCF energy/ { print $5 }' "$1"; }

scalapack_qr_make()
{
    local rows columns i

    grid_of "$1"
    cat >QR.dat <<END_OF_INPUT
'ScaLAPACK, Orthogonal factorizations input file'
'MPI machine'
'QR.out' output file name (if any)
6 device out
3 number of factorizations
'QR' 'LQ' 'QP' factorizations
2 number of problems sizes
150 240 values of M
140 250 values of N
2 number of blocking sizes
4 16 values of MB
4 16 values of NB
2 number of process grids (ordered pairs P & Q)
$rows 1 values of P
$columns $1 values of Q
5.0 threshold
END_OF_INPUT
}
scalapack_qr_command() { linked "$(echo /usr/lib/*/scalapack/"$1"-tests/xdqr)" "$1"; }
# a residual is what rounding leaves: its digits follow the order of sums, which MPI leaves open
scalapack_qr_result() { awk '$1 == "WALL" { print $2, $3, $4, $5, $6, $7, $10, $11 < 1 } /tests completed|tests skipped/' "$1"; }

# without iterative refinement: PDGERFS hangs now and then under Open MPI 4.1, when ranks differ in the last digit of a sum
scalapack_lu_make()
{
    local rows columns i

    grid_of "$1"
    cat >LU.dat <<END_OF_INPUT
'ScaLAPACK, LU factorization input file'
'MPI machine'
'LU.out' output file name (if any)
6 device out
2 number of problems sizes
150 400 values of M
150 400 values of N
2 number of NB's
4 16 values of NB
2 number of NRHS's
3 9 values of NRHS
1 number of NBRHS's
3 values of NBRHS
2 number of process grids (ordered pairs of P & Q)
$rows 1 values of P
$columns $1 values of Q
1.0 threshold
F (T or F) test condition estimates and iterative refinement
END_OF_INPUT
}
scalapack_lu_command() { linked "$(echo /usr/lib/*/scalapack/"$1"-tests/xdlu)" "$1"; }
scalapack_lu_result() { awk '$1 == "WALL" { print $2, $3, $4, $5, $6, $7, $8, $NF } /tests completed|tests skipped/' "$1"; }

hpcc_make()
{
    local rows columns i

    grid_of "$1"
    cat >hpccinf.txt <<END_OF_INPUT
HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
192          Ns
1            # of NBs
16           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
$rows        Ps
$columns     Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
-
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
END_OF_INPUT
}
hpcc_command() { linked hpcc "$1"; }
# of the last run, since hpcc appends: what it checked, and its figures but times and rates
hpcc_result()
{
    awk '/^This is the DARPA/ { n = 0 } { line[n++] = $0 } END { for (i = 0; i < n; i++) print line[i] }' hpccoutf.txt |
        grep -E '^Found|^\|\|Ax|tests completed and|^[A-Za-z_0-9]+=' |
        grep -vE '^[A-Za-z_0-9]*([Tt]ime[0-9]*|GBs|GBytes|flops|GUPs|usec|_Copy|_Scale|_Add|_Triad|Wtick)='
}
