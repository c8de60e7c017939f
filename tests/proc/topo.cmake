# the same of topo_test.sh
foreach(case
        rack_death_is_recovered_where_racks_are_known rack_death_is_catastrophic_where_racks_are_not_known
        a_node_of_a_small_job_is_survived what_would_cover_a_node_is_said nodes_with_checksum_ranks_are_survived impossible_levels_are_refused_with_the_best_possible wrong_files_are_named
        a_job_shows_its_own_topology ranks_that_form_other_groups_do_not_run_together
        replacements_say_when_their_group_is_less_safe)
  add_test(NAME proc_topo_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/topo_test.sh ${CMAKE_BINARY_DIR}
           ${CMAKE_SOURCE_DIR}/tests/data/topo ${case})
  set_tests_properties(proc_topo_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
