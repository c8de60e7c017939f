# the same of limits_test.sh
add_executable(limits limits.c)
target_link_libraries(limits PRIVATE keel)
foreach(case windows_beyond_the_groups_memory_are_refused limits_on_open_files_are_named
        limits_of_the_launcher_are_named address_space_of_ranks_is_named
        transports_that_do_not_do_are_named ucx_knows_all_settings
        restarts_inside_init_end_after_two collective_calls_that_differ_are_named)
  add_test(NAME proc_limits_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/limits_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_limits_${case} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 120)
endforeach()

add_executable(aborts aborts.c)
target_link_libraries(aborts PRIVATE keel)
foreach(case one_rank_ends_the_job jobs_that_ask_for_it_are_restarted
        jobs_are_restarted_with_what_they_ask_for)
  add_test(NAME proc_aborts_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/aborts_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_aborts_${case} PROPERTIES LABELS proc TIMEOUT 120)
endforeach()

add_executable(extents extents.c)
target_include_directories(extents PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(extents PRIVATE keel)
foreach(lane direct served)
  add_test(NAME proc_extents_alone_belong_to_images_${lane}
           COMMAND keelrun -n 3 --nodes 2 --timeout 80 -x KEEL_LANES=${lane} -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m
                   -x KEEL_CKPT_INTERVAL=3gsyncs $<TARGET_FILE:extents> 40)
  set_tests_properties(proc_extents_alone_belong_to_images_${lane} PROPERTIES LABELS proc TIMEOUT 120)
endforeach()

add_executable(compares compares.c)
target_include_directories(compares PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(compares PRIVATE keel)
foreach(lane direct served)
  add_test(NAME proc_waits_compare_in_each_way_${lane}
           COMMAND keelrun -n 3 --nodes 3 --timeout 80 -x KEEL_LANES=${lane} -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m
                   $<TARGET_FILE:compares>)
  set_tests_properties(proc_waits_compare_in_each_way_${lane} PROPERTIES LABELS proc TIMEOUT 120
                       PASS_REGULAR_EXPRESSION "rank 1: 72 comparisons are right" FAIL_REGULAR_EXPRESSION "too early;exited with;has not ended")
endforeach()

add_executable(forks forks.c)
target_link_libraries(forks PRIVATE keel)
foreach(lane direct served auto)
  add_test(NAME proc_children_disturb_nothing_${lane}
           COMMAND keelrun -n 4 --nodes 2 --timeout 60 -x KEEL_LANES=${lane} -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m
                   $<TARGET_FILE:forks>)
  set_tests_properties(proc_children_disturb_nothing_${lane} PROPERTIES LABELS proc TIMEOUT 90)
endforeach()

add_executable(window_steps window_steps.c)
target_link_libraries(window_steps PRIVATE keel)
foreach(way ask retry)
  foreach(lane direct served)
    add_test(NAME proc_windows_of_steps_${way}_${lane}
             COMMAND keelrun -n 3 --nodes 3 --timeout 60 -x KEEL_LANES=${lane} -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m
                     -x KEEL_CKPT_INTERVAL=2gsyncs $<TARGET_FILE:window_steps> ${way})
    set_tests_properties(proc_windows_of_steps_${way}_${lane} PROPERTIES LABELS proc TIMEOUT 90
                         PASS_REGULAR_EXPRESSION "rank 1, life 1: 5 windows"
                         FAIL_REGULAR_EXPRESSION "is wrong;exited with;has not ended")
  endforeach()
endforeach()

add_executable(many_windows many_windows.c)
target_include_directories(many_windows PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(many_windows PRIVATE keel)
foreach(tier direct:4084 served:1000)
  string(REPLACE ":" ";" tier ${tier})
  list(GET tier 0 lane)
  list(GET tier 1 count)
  add_test(NAME proc_limits_thousands_of_windows_${lane}
           COMMAND keelrun -n 3 --timeout 150 -x KEEL_LANES=${lane} -x KEEL_OPLOG_SIZE=8m -x KEEL_GETLOG_SIZE=4m
                   -x KEEL_CKPT_INTERVAL=1gsyncs $<TARGET_FILE:many_windows> ${count} 1@9.0,0@20.0)
  set_tests_properties(proc_limits_thousands_of_windows_${lane} PROPERTIES LABELS proc TIMEOUT 200
                       PASS_REGULAR_EXPRESSION "${count}, [1-9][0-9]* checkpoints, 0 rollbacks: right"
                       FAIL_REGULAR_EXPRESSION "exited with;has not ended")
endforeach()
