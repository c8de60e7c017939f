# keel_files: lists, checks and removes checkpoints in files.
add_executable(keel_files_tool tool_output.c files/keel_files.c files/files_check.c)
set_target_properties(keel_files_tool PROPERTIES OUTPUT_NAME keel_files)
target_include_directories(keel_files_tool PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/files)
target_link_libraries(keel_files_tool PRIVATE keel_ckpt keel_files keel_base)
install(TARGETS keel_files_tool COMPONENT tools)
