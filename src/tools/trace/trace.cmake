# keel_trace: makes the trace, the statistics and the figure from the areas of a job.
add_executable(keel_trace_tool tool_output.c trace/keel_trace.c)
set_target_properties(keel_trace_tool PROPERTIES OUTPUT_NAME keel_trace)
target_link_libraries(keel_trace_tool PRIVATE keel_trace keel_base)
install(TARGETS keel_trace_tool COMPONENT tools)
