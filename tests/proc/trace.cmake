# Traces of jobs; the same of trace_test.sh
foreach(case a_local_recovery_is_traced a_rollback_is_traced a_catastrophe_is_traced a_job_killed_by_sigkill_is_traced
        a_full_trace_keeps_the_death a_trace_that_cannot_be_written_is_said all_lives_are_counted a_lost_job_is_counted a_recovery_is_drawn
        an_attached_job_is_traced a_job_under_mpirun_is_traced an_openshmem_program_is_traced an_mpi_program_is_traced
        the_tool_makes_what_a_killed_job_left spoilt_traces_are_noticed spoilt_traces_do_not_fit_the_schema)
  add_test(NAME proc_trace_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/trace_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_trace_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
