# What no log has: each death is a rollback. The same of unlogged_test.sh.
foreach(program accumulates attached pointers groups signals got_blocks window_locks given many_threads bad_unlogged)
  add_executable(${program} ${program}.c)
  target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
  target_link_libraries(${program} PRIVATE keel)
endforeach()
target_link_libraries(many_threads PRIVATE Threads::Threads)
foreach(case bad_arguments_are_refused stores_by_address_roll_back accumulates_roll_back
             signals_are_logged_as_puts blocks_are_got_from_the_logs threads_inside_at_once_roll_back memory_that_was_given_is_a_window pages_that_were_given_recover_locally attached_memory_recovers_locally attached_memory_rolls_back locks_of_windows_roll_back groups_recover_locally)
  add_test(NAME proc_unlogged_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/unlogged_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_unlogged_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()

# what a death costs, by the rows of contrib/doc/deaths.md
add_executable(cells cells.c cells_kinds.c cells_step.c)
target_include_directories(cells PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(cells PRIVATE keel)
foreach(lanes direct served)
  add_test(NAME proc_deaths_cost_as_documented_${lanes}
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/deaths_test.sh ${CMAKE_BINARY_DIR} cost_as_documented_${lanes})
  set_tests_properties(proc_deaths_cost_as_documented_${lanes} PROPERTIES LABELS proc TIMEOUT 900)
endforeach()
