# Tests of the reliability model and of keel_plan.
keel_unit_test(reliability tools_topo)
keel_unit_test(replica_loss tools_topo)
keel_unit_test(plan_machine plan_parts)
keel_unit_test(plan_simulate plan_parts)
keel_unit_test(overlap plan_parts)
keel_unit_test(plan_advice plan_parts)
add_test(NAME unit_keel_plan COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/keel_plan.sh $<TARGET_FILE:keel_plan>
         ${CMAKE_SOURCE_DIR}/tests/golden/plan)
