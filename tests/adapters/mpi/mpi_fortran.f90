! MPI from Fortran by module mpi: windows, epochs, groups, messages, requests, collectives and a grid, each call's values checked.
module flaws
  use mpi
  implicit none
  integer :: rank, ranks, right, left, count = 0
contains
  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what

    if (.not. is_right) then
      print '(a, i0, 2a)', 'rank ', rank, ': not ', what
      count = count + 1
    end if
  end subroutine

  subroutine check_fence()
    integer :: win, error, cells(10)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place

    cells = -1
    bytes = 40
    place = 3
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
    call MPI_Win_fence(0, win, error)
    call MPI_Put(rank, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, error)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, error)
    call expect(cells(4) == left, 'what was put after a fence')
    call MPI_Win_free(win, error)
    call expect(win == MPI_WIN_NULL, 'a window that was freed')
  end subroutine

  subroutine check_locks()
    use iso_c_binding
    integer :: win, error, was, group, pair, i, n
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place
    integer :: peers(1)
    type(c_ptr) :: base
    integer, pointer :: memory(:)

    bytes = 400
    place = 5
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, error)
    call c_f_pointer(base, memory, [100])
    memory = 0
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Win_lock_all(0, win, error)
    do i = 1, 10
      call MPI_Fetch_and_op(1, was, MPI_INTEGER, 0, place, MPI_SUM, win, error)
      call MPI_Win_flush(0, win, error)
    end do
    call MPI_Win_unlock_all(win, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call expect(rank /= 0 .or. memory(6) == 10 * ranks, 'the counter')
    call MPI_Comm_group(MPI_COMM_WORLD, group, error)
    peers(1) = left
    call MPI_Group_incl(group, 1, peers, pair, error)
    call MPI_Group_size(pair, n, error)
    call expect(n == 1, 'the size of a group')
    call MPI_Win_post(pair, 0, win, error)
    call MPI_Group_free(pair, error)
    peers(1) = right
    call MPI_Group_incl(group, 1, peers, pair, error)
    call MPI_Win_start(pair, 0, win, error)
    place = 7
    call MPI_Put(rank, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, error)
    call MPI_Win_complete(win, error)
    call MPI_Win_wait(win, error)
    call expect(memory(8) == left, 'what was put between post and wait')
    call MPI_Group_free(pair, error)
    call MPI_Group_free(group, error)
    call expect(group == MPI_GROUP_NULL, 'a group that was freed')
    call MPI_Win_free(win, error)
  end subroutine

  subroutine check_messages()
    integer :: error, requests(2), statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE), got, columns, n
    integer :: matrix(4, 4), other(4)
    logical :: flag

    call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(rank, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, statuses, error)
    call expect(got == left .and. statuses(MPI_SOURCE, 1) == left .and. statuses(MPI_TAG, 1) == 4, 'a message')
    call expect(all(requests == MPI_REQUEST_NULL), 'requests that are complete')
    matrix = rank
    call MPI_Type_vector(4, 1, 4, MPI_INTEGER, columns, error)
    call MPI_Type_commit(columns, error)
    call MPI_Sendrecv(matrix, 1, columns, right, 5, other, 4, MPI_INTEGER, left, 5, MPI_COMM_WORLD, status, error)
    call MPI_Get_count(status, MPI_INTEGER, n, error)
    call expect(all(other == left) .and. n == 4, 'a column')
    call MPI_Type_free(columns, error)
    call MPI_Iprobe(left, 99, MPI_COMM_WORLD, flag, status, error)
    call expect(.not. flag, 'a message that nobody sent')
  end subroutine

  subroutine check_collectives()
    integer :: error, total, half, n, grid, source, destination, request, most
    integer :: dims(1), everyone(64)
    logical :: periods(1)

    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(total == ranks * (ranks - 1) / 2, 'a sum')
    total = rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call expect(total == ranks - 1, 'a maximum in place')
    call MPI_Allgather(rank, 1, MPI_INTEGER, everyone, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    call expect(everyone(1) == 0 .and. everyone(ranks) == ranks - 1, 'what all have')
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
    call MPI_Comm_size(half, n, error)
    call expect(n == (ranks + 1 - mod(rank, 2)) / 2, 'the size of a half')
    call MPI_Iallreduce(1, most, 1, MPI_INTEGER, MPI_SUM, half, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call expect(most == n, 'a sum that was not waited for at once')
    call MPI_Comm_free(half, error)
    dims = ranks
    periods = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid, error)
    call MPI_Cart_shift(grid, 0, 1, source, destination, error)
    call expect(source == left .and. destination == right, 'the neighbours of a ring')
    call MPI_Comm_free(grid, error)
  end subroutine
end module

program main
  use flaws
  implicit none
  integer :: error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call check_fence()
  call check_locks()
  call check_messages()
  call check_collectives()
  if (count == 0) print '(2(a, i0), a)', 'mpi_fortran: rank ', rank, ' of ', ranks, ': right'
  call MPI_Finalize(error)
  if (count > 0) stop 1
end program
