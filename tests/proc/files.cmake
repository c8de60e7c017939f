# Checkpoints in files; the same of files_test.sh
add_executable(files_ring files_ring.c)
target_include_directories(files_ring PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(files_ring PRIVATE keel)
add_library(failing_file MODULE failing_file.c)
set_target_properties(failing_file PROPERTIES C_VISIBILITY_PRESET default)
target_link_libraries(failing_file PRIVATE ${CMAKE_DL_LIBS})
add_library(recorded_disk MODULE recorded_disk.c)
set_target_properties(recorded_disk PROPERTIES C_VISIBILITY_PRESET default)
target_link_libraries(recorded_disk PRIVATE ${CMAKE_DL_LIBS})
foreach(case a_lost_job_goes_on_from_files a_killed_job_goes_on_from_files a_restarted_job_survives_deaths
        a_signal_stops_the_job_with_a_checkpoint a_program_stops_itself_with_a_checkpoint a_folder_that_hangs_does_not_hold_the_launcher the_batch_script_of_the_documents_stops deaths_in_a_restart_start_the_job_again damaged_checkpoints_are_passed_over other_jobs_are_refused
        failures_of_the_file_system_are_survived failures_of_a_removal_are_survived failures_of_a_restart_take_an_older_checkpoint a_rank_killed_in_a_restart_starts_the_job_again a_job_killed_while_it_writes_goes_on
        a_power_cut_leaves_whole_checkpoints a_rank_killed_while_it_writes_is_recovered every_fourth_checkpoint_is_written costs_are_compared the_tool_tells_what_is_there)
  add_test(NAME proc_files_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/files_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_files_${case} PROPERTIES LABELS proc TIMEOUT 900)
endforeach()
