# the UCX transport between real processes, live ones and killed ones
if(TARGET keel_transport_service)
  keel_unit_test(seal transport_service)
endif()
if(TARGET keel_transport_ucp)
  add_library(ucp_rig STATIC ucp_rig.c)
  target_link_libraries(ucp_rig PUBLIC keel_transport_ucp PkgConfig::CHECK)
  foreach(name transport_ucp transport_ucp_idle transport_ucp_kill transport_ucp_reads transport_ucp_strangers
          transport_ucp_wait)
    keel_unit_test(${name} transport_ucp)
    target_link_libraries(test_${name} PRIVATE ucp_rig)
    add_test(NAME unit_${name}_netns
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/transport_ucp_netns.sh $<TARGET_FILE:test_${name}>)
    set_tests_properties(unit_${name}_netns PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
  target_link_libraries(test_transport_ucp PRIVATE keel_runtime_process)

  # without a network: settings by the version of UCX, and pools
  keel_unit_test(transport_ucp_settings transport_ucp)
  keel_unit_test(service_message transport_service)
endif()
