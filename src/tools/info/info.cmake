# keel_info: what this build and this machine are, and where a job's ranks would lie.
add_executable(keel_info tool_hosts.c tool_output.c info/keel_info.c info/topo_json.c info/topo_lost.c info/topo_show.c info/topo_spares.c info/topo_svg.c
               info/topo_text.c info/topo_utf8.c info/topo_view.c)
target_link_libraries(keel_info PRIVATE keel_tools_topo keel_static keel_drivers m)
target_include_directories(keel_info PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(keel_info PRIVATE KEEL_BUILD_TYPE="${CMAKE_BUILD_TYPE}"
  KEEL_BUILD_COMPILER="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}" KEEL_BUILD_SANITIZE="${KEEL_SANITIZE}"
  KEEL_BUILD_UCX="${UCX_VERSION}" KEEL_BUILD_PMIX="${PMIX_VERSION}" KEEL_BUILD_ISAL="${ISAL_VERSION}")
install(TARGETS keel_info COMPONENT tools)
