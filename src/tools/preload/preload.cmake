# keel_preload_sum: what the processes of a job under libkeel-preload.so report, together.
add_executable(keel_preload_sum preload/keel_preload_sum.c tool_output.c)
target_include_directories(keel_preload_sum PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(keel_preload_sum PRIVATE keel_preload_report keel_base)
target_link_options(keel_preload_sum PRIVATE -Wl,--as-needed)
install(TARGETS keel_preload_sum COMPONENT tools)
