# the transport on libibverbs over a stand-in for that library, in one process
if(TARGET keel_transport_verbs)
  keel_unit_test(transport_verbs transport_verbs)
  target_sources(test_transport_verbs PRIVATE verbs_stub.c)
  # UCX's hook in madvise() is called while a thread ends, when the thread sanitizer has taken leave of it already
  set_tests_properties(unit_transport_verbs PROPERTIES ENVIRONMENT UCX_MEM_EVENTS=n)
endif()
