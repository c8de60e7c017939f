# the same of rehearsal_test.sh
add_executable(rehearsed rehearsed.c)
target_include_directories(rehearsed PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(rehearsed PRIVATE keel)
add_executable(behind_safe behind_safe.c)
target_include_directories(behind_safe PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(behind_safe PRIVATE keel)
foreach(case
        right_program_passes example_and_kernels_pass forgotten_protection_is_found forgotten_protection_may_show_later clock_and_pid_are_found
        memory_that_differs_is_found loads_of_own_memory_are_found other_gets_are_found calls_behind_the_safe_gsync_are_found
        job_without_safe_gsyncs_is_rehearsed_from_its_start
        rollbacks_and_short_jobs_are_reported crash_of_a_replacement_is_reported options_that_do_not_go_with_it_are_refused)
  add_test(NAME proc_rehearsal_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/rehearsal_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_rehearsal_${case} PROPERTIES LABELS proc TIMEOUT 300)
endforeach()
