# the same of redone_test.sh
add_executable(redone redone.c)
target_include_directories(redone PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(redone PRIVATE keel)
foreach(case
        rank_that_does_the_same_is_brought_back_alone clock_and_pid_are_rolled_back fewer_puts_are_rolled_back
        forgotten_protection_is_reported program_that_says_so_is_rolled_back_without_a_word
        own_memory_polled_by_loads_is_right_without_the_promise)
  add_test(NAME proc_redone_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/redone_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_redone_${case} PROPERTIES LABELS proc TIMEOUT 150)
endforeach()
