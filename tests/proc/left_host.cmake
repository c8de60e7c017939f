# what Keel leaves of itself in its host after keel_finalize()
add_executable(left_host left_host.c)
target_link_libraries(left_host PRIVATE keel PkgConfig::UCX)
foreach(lane direct served)
  add_test(NAME proc_guest_leaves_its_host_as_it_was_${lane}
           COMMAND keelrun -n 2 --timeout 60 -x KEEL_LANES=${lane} -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m $<TARGET_FILE:left_host>)
  set_tests_properties(proc_guest_leaves_its_host_as_it_was_${lane} PROPERTIES LABELS proc TIMEOUT 90)
  add_test(NAME proc_guest_attached_leaves_its_host_as_it_was_${lane}
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/attach_test.sh ${CMAKE_BINARY_DIR} left_host ${lane})
  set_tests_properties(proc_guest_attached_leaves_its_host_as_it_was_${lane} PROPERTIES LABELS proc TIMEOUT 300)
endforeach()
