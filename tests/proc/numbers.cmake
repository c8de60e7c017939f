# the same of numbers_test.sh
foreach(case
        overheads_and_ratios_are_those_of_each_round goals_are_met_or_not_or_that_is_unclear interval_is_dalys
        rounds_begin_with_each_and_each_follows_each quartiles_are_right_and_ranks_have_cores
        every_part_of_the_goals_is_measured_small bounds_are_those_that_were_set lost_jobs_end_the_measurement
        goals_are_judged_as_they_are_shown short_runs_are_measured_again wrong_options_are_refused groups_are_compared)
  add_test(NAME proc_numbers_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/numbers_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_numbers_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
