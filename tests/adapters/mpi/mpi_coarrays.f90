! A program of coarrays, as OpenCoarrays runs it over MPI: mpi_coarrays STEPS. A row of cells is spread over the images, and each step
! takes the cells of neighbours by puts and by gets. Locks, events, atomics, critical sections, teams and collectives count the
! steps. Each image computes the whole row for itself, too, and compares.
module coarray_cells
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: cells = 40, modulus = 1000003

  type part_type
    integer, allocatable :: values(:)
  end type

  interface
    subroutine pause_process() bind(c, name='pause')
    end subroutine
  end interface

  integer :: flaws = 0
contains
  subroutine expect(is_right, step, what)
    logical, intent(in) :: is_right
    integer, intent(in) :: step
    character(*), intent(in) :: what

    if (.not. is_right) then
      print '(a, i0, a, i0, 2a)', 'image ', this_image(), ', step ', step, ': not ', what
      flaws = flaws + 1
    end if
  end subroutine

  ! The row has ends: the cells beyond them are as the last ones.
  pure function advanced(row) result(next)
    integer, intent(in) :: row(0:)
    integer :: next(1:size(row) - 2)
    integer :: last

    last = size(row) - 1
    next = mod(3 * row(1:last - 1) + 5 * row(0:last - 2) + 7 * row(2:last), modulus)
  end function

  ! Waits to be killed where the environment says so: KILLED is RANK@STEP, and ranks count from 0.
  subroutine await_kill(step)
    integer, intent(in) :: step
    character(32) :: here, killed, job

    write (here, '(i0, a, i0)') this_image() - 1, '@', step
    call get_environment_variable('KILLED', killed)
    call get_environment_variable('KEELRUN_JOB', job)
    do while (killed == here .and. job == '0')
      call pause_process()
    end do
  end subroutine
end module

program mpi_coarrays
  use coarray_cells
  implicit none
  integer :: row(0:cells + 1)[*]
  integer :: turns[*], visits[*]
  integer(atomic_int_kind) :: sum_of_steps[*], claimed[*]
  type(lock_type) :: turn[*]
  type(event_type) :: arrived[*]
  type(team_type) :: halves
  type(part_type) :: part[*]
  integer, allocatable :: table(:, :)[:]
  integer, allocatable :: all_cells(:)
  integer :: me, images, left, right, step, steps, i, was, total
  character(16) :: argument

  call get_command_argument(1, argument)
  read (argument, *) steps
  me = this_image()
  images = num_images()
  left = max(me - 1, 1)
  right = min(me + 1, images)
  allocate (table(3, images)[*])
  allocate (part%values(me + 2))
  allocate (all_cells(0:images * cells + 1))
  do i = 1, images * cells
    all_cells(i) = i
  end do
  row(1:cells) = all_cells((me - 1) * cells + 1:me * cells)
  table = 0
  part%values = me
  turns = 0
  visits = 0
  sum_of_steps = 0
  claimed = 0
  sync all

  do step = 1, steps
    ! the cell of the right neighbour is put there, that of the left one is taken from there
    if (me == 1) row(0) = row(1)
    if (me < images) row(0)[right] = row(cells)
    call sync_neighbours()
    row(cells + 1) = row(1)[right]
    if (me == images) row(cells + 1) = row(cells)
    call sync_neighbours()
    row(1:cells) = advanced(row)
    all_cells(0) = all_cells(1)
    all_cells(images * cells + 1) = all_cells(images * cells)
    all_cells(1:images * cells) = advanced(all_cells)
    call expect(all(row(1:cells) == all_cells((me - 1) * cells + 1:me * cells)), step, 'the cells')

    ! elements that lie apart, and a component allocated by each image alone
    table(1:3:2, me)[right] = [step, me]
    was = me + 1
    if (right /= me) was = size(part[right]%values)
    call expect(was == merge(me + 1, right + 2, right == me), step, 'the size of a component')
    part[right]%values(2) = step + me

    lock (turn[1])
    was = turns[1]
    turns[1] = was + step
    unlock (turn[1])
    critical
      visits[images] = visits[images] + 1
    end critical
    call atomic_add(sum_of_steps[1], step)
    call atomic_ref(was, sum_of_steps[1]) ! OpenCoarrays 2.10 leaves OLD of atomic_fetch_add undefined
    call expect(was >= step * (step - 1) / 2 * images + step, step, 'an atomic sum')
    call atomic_cas(claimed[right], was, 2 * step - 2, 2 * step)
    event post (arrived[1 + mod(me, images)])
    event wait (arrived)
    sync all

    call expect(turns[1] == step * (step + 1) / 2 * images, step, 'what a lock protects')
    call expect(visits[images] == step * images, step, 'what a critical section protects')
    call expect(sum_of_steps[1] == step * (step + 1) / 2 * images, step, 'the atomic sum')
    call expect(claimed == merge(2 * step, 0, me > 1 .or. images == 1), step, 'a word that was compared and swapped')
    if (me > 1) call expect(all(table(:, left) == [step, 0, left]), step, 'a row of elements that lie apart')
    if (me > 1 .and. me < images) call expect(part%values(2) == step + left, step, 'a component')

    total = sum(row(1:cells))
    call co_sum(total)
    call expect(total == sum(all_cells(1:images * cells)), step, 'co_sum')
    was = row(1)
    call co_max(was)
    call expect(was == maxval(all_cells(1:images * cells:cells)), step, 'co_max')
    was = me * step
    call co_broadcast(was, images)
    call expect(was == images * step, step, 'co_broadcast')
    if (mod(step, 3) == 0) then
      form team (1 + mod(me, 2), halves)
      change team (halves)
        was = 1
        call co_sum(was)
        call expect(was == num_images(), step, 'a team')
      end team
    end if
    if (me == 1 .and. mod(step, 5) == 0) then
      print '(a, i0)', 'step ', step
      flush (output_unit)
    end if
    call await_kill(step)
    sync all
  end do

  call co_sum(flaws)
  if (flaws > 0) error stop 1
  if (me == 1) print '(a, i0, a, i0, a)', 'mpi_coarrays: ', images, ' images, ', steps, ' steps: right'
contains
  subroutine sync_neighbours()
    if (images == 1) return
    if (me == 1) then
      sync images (right)
    else if (me == images) then
      sync images (left)
    else
      sync images ([left, right])
    end if
  end subroutine
end program
