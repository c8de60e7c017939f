# Tests that loop over lanes, deaths and moments: each Nth turn in their own tier, and every turn in NAME_all, of the tier long.
function(proc_thinned every script prefix)
  foreach(case ${ARGN})
    set_property(TEST ${prefix}_${case} APPEND PROPERTY ENVIRONMENT KEELTEST_EVERY=${every})
    add_test(NAME ${prefix}_${case}_all COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${CMAKE_BINARY_DIR} ${case})
    set_tests_properties(${prefix}_${case}_all PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 1800)
  endforeach()
endfunction()

proc_thinned(7 unlogged_test.sh proc_unlogged stores_by_address_roll_back accumulates_roll_back memory_that_was_given_is_a_window
             locks_of_windows_roll_back)
proc_thinned(3 unlogged_test.sh proc_unlogged signals_are_logged_as_puts)
proc_thinned(5 unlogged_test.sh proc_unlogged attached_memory_rolls_back)
proc_thinned(11 unlogged_test.sh proc_unlogged attached_memory_recovers_locally)
proc_thinned(5 jobs_test.sh proc_job death_while_leaving_never_hangs death_while_meeting_is_recovered)
proc_thinned(7 jobs_test.sh proc_job death_of_a_starting_replacement_is_recovered)
proc_thinned(4 jobs_test.sh proc_job programs_that_test_words_are_recovered)
proc_thinned(3 jobs_test.sh proc_job what_was_put_is_sent_before_looking)
proc_thinned(3 output_test.sh proc_output lines_appear_once_direct lines_appear_once_served)
# an operation each; a test whose loop ends after one turn fails
proc_thinned(5 files_failures_test.sh proc_files failures_of_the_file_system_are_survived each_failure_of_a_checkpoint_is_survived
             each_failure_of_a_start_is_survived
             each_failure_of_an_end_is_survived a_rank_killed_in_a_restart_starts_the_job_again
             a_launcher_killed_in_a_restart_is_started_again a_job_killed_in_a_restart_is_started_again
             a_job_killed_while_it_writes_goes_on a_job_of_a_dead_rank_that_wrote_goes_on
             a_launcher_killed_while_a_rank_writes_goes_on a_rank_killed_while_it_writes_is_recovered)
