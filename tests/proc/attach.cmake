# Runtimes that attach Keel by include/keel/runtime.h: the example with its launcher, and each promise of the header.
add_executable(attach_modes attach_modes.c)
target_link_libraries(attach_modes PRIVATE keel Threads::Threads)
add_library(attach_no_pmix SHARED attach_no_pmix.c)

if(KEEL_SANITIZE)
  add_test(NAME sanitized_deaths_attach COMMAND attach_launch -n 4 -N 2 -k 3 -s 11 $<TARGET_FILE:attach>)
  set_tests_properties(sanitized_deaths_attach PROPERTIES LABELS sanitized TIMEOUT 150 RUN_SERIAL TRUE ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/sanitizers/tsan.supp;LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/sanitizers/lsan.supp;UCX_HANDLE_ERRORS=none;KEEL_OPLOG_SIZE=4m;KEEL_GETLOG_SIZE=1m")
else()
  # ten jobs with three deaths each
  foreach(case one_node two_nodes node_each served cxx)
    add_test(NAME proc_attach_survives_kills_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/attach_test.sh ${CMAKE_BINARY_DIR} ${case})
    set_tests_properties(proc_attach_survives_kills_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
  foreach(case beside events twice refused sink abort progress fails dedicated suspect)
    add_test(NAME proc_attach_mode_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/attach_test.sh ${CMAKE_BINARY_DIR} mode ${case})
    set_tests_properties(proc_attach_mode_${case} PROPERTIES LABELS proc TIMEOUT 300)
  endforeach()
endif()
