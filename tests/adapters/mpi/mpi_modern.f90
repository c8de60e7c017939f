! Module mpi_f08: its functions come to the same as those of mpif.h, with types for handles and errors that need not be asked for.
program modern
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer, parameter :: cells = 100
  integer :: rank, ranks, right, left, wrong, i, got, summed, code, length
  integer, allocatable :: memory(:)
  integer, pointer :: base(:)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp
  character(len=MPI_MAX_OBJECT_NAME) :: name
  type(c_ptr) :: at
  type(MPI_Win) :: win, allocated
  type(MPI_Comm) :: half
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(MPI_Datatype) :: every

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  wrong = 0

  ! windows over memory of the program's own and of the arena
  allocate (memory(cells))
  memory = rank
  bytes = 4*cells
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_set_name(win, 'cells')
  call MPI_Win_get_name(win, name, length)
  call expect(length == 5, 'the length of a name') ! of which Open MPI 4.1 gives the first letter here
  call MPI_Win_fence(0, win)
  disp = 5
  call MPI_Get(got, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call expect(got == right, 'what was got')
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every)
  call MPI_Type_commit(every)
  disp = 10
  call MPI_Put((/rank, rank + 1, rank + 2/), 3, MPI_INTEGER, right, disp, 1, every, win)
  call MPI_Win_fence(0, win)
  call expect(all(memory(11:15:2) == (/left, left + 1, left + 2/)), 'every second cell')
  call MPI_Type_free(every)
  call MPI_Win_free(win)
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, at, allocated)
  call c_f_pointer(at, base, (/cells/))
  base = 0
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock_all(0, allocated)
  disp = 0
  call MPI_Accumulate(rank + 1, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, allocated)
  disp = 1
  call MPI_Fetch_and_op(1, got, MPI_INTEGER, 0, disp, MPI_SUM, allocated)
  call MPI_Win_flush(0, allocated)
  call MPI_Win_unlock_all(allocated)
  call MPI_Barrier(MPI_COMM_WORLD)
  call expect(rank /= 0 .or. base(1) == ranks*(ranks + 1)/2, 'the sum')
  call MPI_Allreduce(got, summed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect(summed == ranks*(ranks - 1)/2, 'what was drawn')
  call MPI_Win_free(allocated)

  ! messages and communicators
  call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Wait(requests(1), status)
  call expect(got == left .and. status%MPI_SOURCE == left .and. status%MPI_TAG == 3, 'what was received')
  call MPI_Get_count(status, MPI_INTEGER, i)
  call expect(i == 1, 'the count')
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  call MPI_Comm_size(half, i)
  call expect(i == (ranks + 1 - mod(rank, 2))/2, 'the half')
  call MPI_Comm_free(half)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, code)
  call expect(code /= MPI_SUCCESS, 'an error')

  if (wrong == 0) then
    write (*, '(a,i0,a,i0,a)') 'mpi_modern: rank ', rank, ' of ', ranks, ': right'
  end if
  call MPI_Finalize()
contains
  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (.not. is_right) then
      write (*, '(a,i0,2a)') 'rank ', rank, ': not right: ', what
      wrong = wrong + 1
    end if
  end subroutine
end program
