# jobs of mixed_jobs.sh: programs that synchronise in all ways, with deaths
add_executable(mixed_random mixed_random.c)
target_include_directories(mixed_random PRIVATE ${CMAKE_SOURCE_DIR}/transports)
target_link_libraries(mixed_random PRIVATE keel_test_program keel)
add_test(NAME proc_mixed_jobs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/mixed_jobs.sh ${CMAKE_BINARY_DIR} 40 1)
set_tests_properties(proc_mixed_jobs PROPERTIES LABELS proc TIMEOUT 600)
