# keel_plan and its machines. The parts are a library, so that tests and the fuzzer link them.
add_library(keel_plan_parts STATIC plan/plan_advice.c plan/plan_advice_print.c plan/plan_cost.c plan/plan_layout.c plan/plan_load.c
            plan/plan_loss.c plan/plan_loss_nodes.c plan/plan_machine.c plan/plan_options.c plan/plan_picture.c plan/plan_placed.c plan/plan_print.c plan/plan_replicas.c
            plan/plan_report.c plan/plan_simulate.c plan/plan_site.c tool_hosts.c tool_output.c)
target_include_directories(keel_plan_parts PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/plan)
target_link_libraries(keel_plan_parts PUBLIC keel_tools_topo keel_store keel_ckpt keel_topo keel_base)
target_compile_definitions(keel_plan_parts PRIVATE
  KEEL_PLAN_MACHINES="${CMAKE_INSTALL_FULL_DATADIR}/keel/machines")

add_executable(keel_plan plan/keel_plan.c)
target_link_libraries(keel_plan PRIVATE keel_plan_parts)
install(TARGETS keel_plan COMPONENT tools)

# a machine is found beside the program: here as in an installation
file(GLOB machines CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/contrib/machines/*.machine)
install(FILES ${machines} DESTINATION ${CMAKE_INSTALL_DATADIR}/keel/machines COMPONENT tools)
foreach(machine ${machines})
  get_filename_component(name ${machine} NAME)
  configure_file(${machine} ${CMAKE_BINARY_DIR}/src/share/keel/machines/${name} COPYONLY)
endforeach()
