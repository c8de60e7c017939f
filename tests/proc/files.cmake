# Checkpoints in files; cases of files_test.sh and files_failures_test.sh
add_executable(files_ring files_ring.c)
target_include_directories(files_ring PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(files_ring PRIVATE keel)
add_executable(file_interval file_interval.c)
target_link_libraries(file_interval PRIVATE keel_ckpt)
add_library(failing_file MODULE failing_file.c)
set_target_properties(failing_file PROPERTIES C_VISIBILITY_PRESET default)
target_link_libraries(failing_file PRIVATE ${CMAKE_DL_LIBS})
add_library(recorded_disk MODULE recorded_disk.c)
set_target_properties(recorded_disk PROPERTIES C_VISIBILITY_PRESET default)
target_link_libraries(recorded_disk PRIVATE ${CMAKE_DL_LIBS})
set(cases_of_files_test a_lost_job_goes_on_from_files a_killed_job_goes_on_from_files attached_memory_and_extents_return
        a_job_with_a_store_goes_on
        a_restarted_job_survives_deaths a_lost_job_goes_on_on_other_nodes
        a_signal_stops_the_job_with_a_checkpoint a_program_stops_itself_with_a_checkpoint
        a_rate_does_not_hold_for_a_stop a_stop_without_files_ends_in_time a_stop_is_met_by_a_later_checkpoint requests_are_there_when_a_job_begins
        a_folder_that_hangs_does_not_hold_the_launcher the_batch_script_of_the_documents_stops
        the_loop_of_the_documents_goes_on other_jobs_are_refused every_fourth_checkpoint_is_written
        the_number_of_checkpoints_is_chosen costs_are_compared the_tool_tells_what_is_there)
set(cases_of_files_failures_test deaths_in_a_restart_start_the_job_again damaged_checkpoints_are_passed_over failures_of_the_file_system_are_survived
        failures_of_a_removal_are_survived a_replacement_without_a_writer_makes_one_later files_that_read_otherwise_do_not_count each_failure_of_a_checkpoint_is_survived
        each_failure_of_a_start_is_survived each_failure_of_an_end_is_survived a_folder_that_is_gone_is_found_again
        a_slow_folder_is_said a_request_is_lost_with_its_folder a_stop_in_the_folder_of_another_job_ends_in_time
        failures_of_a_restart_take_an_older_checkpoint
        a_rank_killed_in_a_restart_starts_the_job_again a_launcher_killed_in_a_restart_is_started_again
        a_job_killed_in_a_restart_is_started_again a_job_killed_while_it_writes_goes_on
        a_job_of_a_dead_rank_that_wrote_goes_on a_launcher_killed_while_a_rank_writes_goes_on
        a_folder_that_hangs_at_the_end_is_left
        a_job_killed_at_its_end_goes_on_from_the_newest a_power_cut_leaves_whole_checkpoints
        a_rank_killed_while_it_writes_is_recovered)
foreach(script files_test files_failures_test)
  foreach(case ${cases_of_${script}})
    add_test(NAME proc_files_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script}.sh ${CMAKE_BINARY_DIR} ${case})
    set_tests_properties(proc_files_${case} PROPERTIES LABELS proc TIMEOUT 900)
  endforeach()
endforeach()
