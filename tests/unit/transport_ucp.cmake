# the UCX transport between real processes, live ones and killed ones
if(TARGET keel_transport_service)
  keel_unit_test(seal transport_service)
  # planted defects of the seal (contrib/doc/planted.md): the same test has to fail, by the check of its own
  if(NOT KEEL_SANITIZE)
    add_executable(planted_seal test_seal.c ${CMAKE_SOURCE_DIR}/transports/service/service_seal.c ${CMAKE_SOURCE_DIR}/tests/sim/planted.c
                                ${CMAKE_SOURCE_DIR}/tests/proc/planted_process.c)
    target_compile_definitions(planted_seal PRIVATE KEEL_PLANTED_DEFECTS)
    target_include_directories(planted_seal PRIVATE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/sim)
    target_link_libraries(planted_seal PRIVATE keel_base keel_transport_service PkgConfig::CHECK)
    foreach(plant unchecked:a_changed_bit_is_refused repeated:a_message_is_taken_once both_ways:a_message_of_another_connection_is_refused
                  any_life:a_message_of_another_connection_is_refused hello_bare:a_changed_bit_is_refused)
      string(REPLACE ":" ";" plant ${plant})
      list(GET plant 0 name)
      list(GET plant 1 test)
      add_test(NAME unit_notices_seal_${name} COMMAND planted_seal)
      set_tests_properties(unit_notices_seal_${name} PROPERTIES ENVIRONMENT "FEW_PLANT=seal_${name}" PASS_REGULAR_EXPRESSION ":${test}:")
    endforeach()
  endif()
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
