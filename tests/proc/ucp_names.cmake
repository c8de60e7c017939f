# UCP's calls on windows: the ring of contrib/examples in both forms, and each call; the cases are functions of ucp_names_test.sh
add_executable(ucp_names ucp_names.c)
target_link_libraries(ucp_names PRIVATE keel PkgConfig::UCX)
foreach(case ring_of_ucp_is_right ring_survives_a_kill ring_rolls_back calls_do_what_ucp_documents header_is_c_and_cxx
        what_has_no_counterpart_does_not_compile)
  add_test(NAME proc_ucp_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/ucp_names_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_ucp_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 150)
endforeach()
