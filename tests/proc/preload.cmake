# libkeel-preload.so under programs that know nothing of Keel. A sanitizer's runtime would have to come before what is preloaded.
if(KEEL_SANITIZE)
  return()
endif()
add_executable(ucp_calls ucp_calls.c)
target_link_libraries(ucp_calls PRIVATE PkgConfig::UCX Threads::Threads)
foreach(mpi openmpi mpich)
  if(COMMAND keel_mpi_program AND TARGET keel_mpi_${mpi})
    keel_mpi_program(preload_mpi ${mpi} preload_mpi.c)
  endif()
endforeach()
foreach(case each_generation_counts_once threads_count_apart callbacks_are_the_programs_own a_child_is_silent lost_processes_are_named
             launchers_are_silent logs_are_bounded count_mode_copies_nothing files_and_directories_are_written wrong_options_are_refused table_is_printed
             nothing_else_is_linked ucx_perftest_is_counted openmpi_is_counted mpich_is_counted oshmem_is_counted)
  add_test(NAME proc_preload_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/preload_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_preload_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
