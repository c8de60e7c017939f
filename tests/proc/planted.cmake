# Planted defects (tests/records/planted.md) that a single thread, and so the simulator, does not meet: processes on a library of their own.
if(KEEL_SANITIZE)
  return()
endif()
set(planted_objects $<TARGET_OBJECTS:keel_planted_layers>)
set(planted_libraries PkgConfig::UCX m)
keel_gather_layers(planted_objects planted_libraries base code topo runtime_process runtime_events runtime_pmix transport_shm transport_service
                   transport_ucp transport_verbs drivers)
add_library(keel_planted_process STATIC ${planted_objects})
set_target_properties(keel_planted_process PROPERTIES LINKER_LANGUAGE C)
target_include_directories(keel_planted_process PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
target_link_libraries(keel_planted_process PUBLIC ${planted_libraries})

foreach(program many_threads ended_calls)
  add_executable(planted_${program} ${program}.c planted_process.c)
  target_include_directories(planted_${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/lib)
  target_link_libraries(planted_${program} PRIVATE keel_planted_process Threads::Threads)
endforeach()
# without one, and with those by which calls wait for ever
foreach(plant "nothing:60:many_threads 4 1@2.0:many_threads. 4 ranks, 4 steps, 1 rollbacks. right"
              "threads_turn_kept:5:many_threads 4 1@2.0:has not ended within" "context_rollback_unended:5:many_threads 4 1@2.0:has not ended within"
              "nothing:60:ended_calls:ended_calls. right" "threads_restored_early:60:ended_calls:behind keel_restore")
  string(REPLACE ":" ";" plant ${plant})
  list(POP_FRONT plant name seconds program what)
  string(REPLACE " " ";" program ${program})
  list(POP_FRONT program first)
  set(which)
  set(test proc_planted_${first})
  if(NOT name STREQUAL nothing)
    set(which -x FEW_PLANT=${name})
    set(test proc_notices_${name})
  endif()
  add_test(NAME ${test}
           COMMAND keelrun -n 4 --nodes 2 --timeout ${seconds} -x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m ${which}
                   $<TARGET_FILE:planted_${first}> ${program})
  set_tests_properties(${test} PROPERTIES LABELS proc TIMEOUT 90 PASS_REGULAR_EXPRESSION "${what}")
endforeach()

# a launcher of its own
get_target_property(planted_sources keelrun SOURCES)
list(TRANSFORM planted_sources PREPEND ${CMAKE_SOURCE_DIR}/contrib/keelrun/)
add_executable(planted_keelrun planted_process.c ${CMAKE_SOURCE_DIR}/tests/sim/lib/planted.c ${planted_sources})
target_compile_definitions(planted_keelrun PRIVATE _GNU_SOURCE $<TARGET_PROPERTY:keel_planted_layers,INTERFACE_COMPILE_DEFINITIONS>)
target_include_directories(planted_keelrun PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include
                           ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(planted_keelrun PRIVATE keel_files keel_base keel_trace keel_runtime_process PkgConfig::PMIX Threads::Threads)
add_test(NAME proc_notices_once_printed_again
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/output_test.sh ${CMAKE_BINARY_DIR} lines_appear_once_direct)
set_tests_properties(proc_notices_once_printed_again PROPERTIES LABELS proc TIMEOUT 300 PASS_REGULAR_EXPRESSION "printed something else"
                     ENVIRONMENT "KEELRUN=$<TARGET_FILE:planted_keelrun>;FEW_PLANT=once_printed_again")

# the seal of messages: its unit test has to fail, in the case of that defect
if(TARGET keel_transport_service)
  add_executable(planted_seal ${CMAKE_SOURCE_DIR}/tests/unit/test_seal.c ${CMAKE_SOURCE_DIR}/transports/service/service_seal.c
                              planted_process.c ${CMAKE_SOURCE_DIR}/tests/sim/lib/planted.c)
  target_compile_definitions(planted_seal PRIVATE $<TARGET_PROPERTY:keel_planted_layers,INTERFACE_COMPILE_DEFINITIONS>)
  target_include_directories(planted_seal PRIVATE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/unit)
  target_link_libraries(planted_seal PRIVATE keel_transport_service PkgConfig::CHECK)
  foreach(plant unchecked:a_changed_bit_is_refused repeated:a_message_is_taken_once
                both_ways:a_message_of_another_connection_is_refused any_life:a_message_of_another_connection_is_refused
                hello_bare:a_changed_bit_is_refused)
    string(REPLACE ":" ";" plant ${plant})
    list(GET plant 0 name)
    list(GET plant 1 case)
    add_test(NAME proc_notices_service_seal_${name} COMMAND planted_seal)
    set_tests_properties(proc_notices_service_seal_${name} PROPERTIES LABELS proc TIMEOUT 60 ENVIRONMENT "FEW_PLANT=service_seal_${name}"
                                                              PASS_REGULAR_EXPRESSION ":${case}:")
  endforeach()
endif()
