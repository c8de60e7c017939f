! MPI from Fortran by mpif.h, in fixed form: a ring by a window, and a counter.
      program fixed
      implicit none
      include 'mpif.h'
      integer error, rank, ranks, win, left, cells(8), was, one, flaws
      integer (kind=MPI_ADDRESS_KIND) bytes, place

      flaws = 0
      one = 1
      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
      left = mod(rank + ranks - 1, ranks)
      cells = 0
      bytes = 32
      call MPI_WIN_CREATE(cells, bytes, 4, MPI_INFO_NULL,
     &                    MPI_COMM_WORLD, win, error)
      place = 1
      call MPI_WIN_FENCE(0, win, error)
      call MPI_PUT(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), place,
     &             1, MPI_INTEGER, win, error)
      call MPI_WIN_FENCE(MPI_MODE_NOSUCCEED, win, error)
      if (cells(2) .ne. left) flaws = flaws + 1
      place = 2
      call MPI_WIN_LOCK(MPI_LOCK_SHARED, 0, 0, win, error)
      call MPI_FETCH_AND_OP(one, was, MPI_INTEGER, 0, place, MPI_SUM,
     &                      win, error)
      call MPI_WIN_UNLOCK(0, win, error)
      call MPI_BARRIER(MPI_COMM_WORLD, error)
      call MPI_WIN_LOCK(MPI_LOCK_SHARED, 0, 0, win, error)
      call MPI_GET(was, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, win,
     &             error)
      call MPI_WIN_UNLOCK(0, win, error)
      if (was .ne. ranks) flaws = flaws + 1
      call MPI_WIN_FREE(win, error)
      if (flaws .eq. 0) print '(2(a, i0), a)', 'mpi_fixed: rank ',
     &    rank, ' of ', ranks, ': right'
      call MPI_FINALIZE(error)
      if (flaws .gt. 0) stop 1
      end
