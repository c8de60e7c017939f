# the same of perftest_test.sh
foreach(case
        every_test_runs_and_prints_its_final_line final_only_leaves_the_rest_out comparison_prints_ratio_and_spread
        csv_has_a_row_of_numbers_for_each_test both_sides_do_the_same_in_turn
        ratio_agrees_with_what_is_compared percentile_is_the_one_that_was_asked_for
        warm_up_is_done mixed_programs_mix pattern_reaches_its_targets protection_logs_what_it_says
        long_test_says_how_far_it_is ucx_reads_its_option patterns_and_protections_are_measured checkpoints_are_timed
        deaths_are_timed
        both_transfers_take_time_and_memory
        client_and_server_meet_without_a_launcher lost_client_ends_the_server bad_arguments_are_refused
        medians_and_quartiles_are_those_of_the_rounds
        goals_are_compared_with_what_is_measured)
  add_test(NAME proc_perftest_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/perftest_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_perftest_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()

# the same of figures_test.sh
foreach(case
        all_parts_come_to_pictures_and_a_page page_says_what_was_measured bad_figures_are_refused jobs_that_fail_end_the_figures
        goals_are_passed_what_was_given numbers_changed_by_hand_are_found costs_show_what_is_missed code_of_a_part_has_a_sum)
  add_test(NAME proc_figures_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/figures_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_figures_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 900)
endforeach()
