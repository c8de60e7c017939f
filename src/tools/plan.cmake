# keel_plan and its machines. The parts are a library, so that tests and the fuzzer link them.
add_library(keel_plan_parts STATIC plan_advice.c plan_advice_print.c plan_cost.c plan_layout.c plan_load.c plan_loss.c plan_machine.c plan_options.c plan_picture.c plan_print.c
            plan_replicas.c plan_report.c plan_simulate.c plan_site.c tool_hosts.c)
target_include_directories(keel_plan_parts PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(keel_plan_parts PUBLIC keel_ckpt keel_topo keel_base)
target_compile_definitions(keel_plan_parts PRIVATE
  KEEL_PLAN_MACHINES="${CMAKE_INSTALL_FULL_DATADIR}/keel/machines")

add_executable(keel_plan keel_plan.c)
target_link_libraries(keel_plan PRIVATE keel_plan_parts)
install(TARGETS keel_plan)

# a machine is found beside the program: here as in an installation
file(GLOB machines CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/contrib/machines/*.machine)
install(FILES ${machines} DESTINATION ${CMAKE_INSTALL_DATADIR}/keel/machines)
foreach(machine ${machines})
  get_filename_component(name ${machine} NAME)
  configure_file(${machine} ${CMAKE_BINARY_DIR}/src/share/keel/machines/${name} COPYONLY)
endforeach()
