# the transport on libibverbs over a stand-in for that library, in one process
if(TARGET keel_transport_verbs)
  foreach(test transport_verbs transport_verbs_lost transport_verbs_limit transport_verbs_chain)
    keel_unit_test(${test} transport_verbs)
    target_sources(test_${test} PRIVATE verbs_stub.c)
    # UCX's hook in madvise() is called while a thread ends, when the thread sanitizer has taken leave of it already
    set_tests_properties(unit_${test} PROPERTIES ENVIRONMENT UCX_MEM_EVENTS=n)
  endforeach()
  # both over it in one process, to be counted
  add_executable(put_instructions put_instructions.c verbs_stub.c)
  target_link_libraries(put_instructions PRIVATE keel_static keel_transport_verbs)
  target_include_directories(put_instructions PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/transports)
endif()
