# Stores: every load equals what was submitted, through deaths before and after submits and amid loads.
add_executable(stored stored.c)
target_include_directories(stored PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(stored PRIVATE keel Threads::Threads)
foreach(lane direct served)
  foreach(flags permuted consecutive static threads)
    add_test(NAME proc_store_loads_equal_submits_${flags}_${lane}
             COMMAND keelrun -n 4 --nodes 2 --timeout 100 -x KEEL_LANES=${lane} -x KEEL_CKPT_INTERVAL=off
                     $<TARGET_FILE:stored> 2 ${flags} 1@0.1,2@4.0,0@9.2,3@12.1,1@17.0)
    set_tests_properties(proc_store_loads_equal_submits_${flags}_${lane} PROPERTIES LABELS proc TIMEOUT 150
                         PASS_REGULAR_EXPRESSION "rollbacks: right" FAIL_REGULAR_EXPRESSION "is wrong;exited with;has not ended")
  endforeach()
endforeach()

foreach(lane direct served)
  # two ranks hold parity for the other four
  add_test(NAME proc_store_loads_equal_submits_dedicated_${lane}
           COMMAND keelrun -n 6 --nodes 6 --timeout 100 -x KEEL_LANES=${lane} -x KEEL_PARITY=dedicated -x KEEL_CHECKSUM_RANKS=2
                   $<TARGET_FILE:stored> 2 permuted 1@0.1,2@4.0,0@9.2,3@12.1,1@17.0)
  add_test(NAME proc_store_loads_equal_submits_unprotected_${lane}
           COMMAND keelrun -n 4 --nodes 2 --timeout 100 -x KEEL_LANES=${lane} -x KEEL_PROTECT=none
                   $<TARGET_FILE:stored> 2 permuted -)
  set_tests_properties(proc_store_loads_equal_submits_dedicated_${lane} proc_store_loads_equal_submits_unprotected_${lane}
                       PROPERTIES LABELS proc TIMEOUT 150
                       PASS_REGULAR_EXPRESSION "rollbacks: right" FAIL_REGULAR_EXPRESSION "is wrong;exited with;has not ended")
endforeach()

# The same with fewer ranks: copies of gone ranks return at other ranks. Two deaths lose nothing, however late the repair.
add_executable(stored_gone stored_gone.c)
target_include_directories(stored_gone PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(stored_gone PRIVATE keel)
foreach(lane direct served)
  foreach(deaths "1@3.1,4@9.2" "0@6.0,5@6.3")
    string(REGEX REPLACE "([0-9])@[^,]*,([0-9])@.*" "\\1 \\2" gone ${deaths})
    string(REPLACE " " "_and_" name ${gone})
    add_test(NAME proc_store_outlives_gone_ranks_${name}_${lane}
             COMMAND keelrun -n 6 --nodes 3 --timeout 100 -x KEEL_SHRINK=now -x KEEL_PROTECT=none -x KEEL_LANES=${lane}
                     $<TARGET_FILE:stored_gone> 3 30 ${deaths})
    set_tests_properties(proc_store_outlives_gone_ranks_${name}_${lane} PROPERTIES LABELS proc TIMEOUT 150
                         PASS_REGULAR_EXPRESSION "gone: ${gone}; some copies came back; all is right"
                         FAIL_REGULAR_EXPRESSION "is wrong;exited with;has not ended;is lost")
  endforeach()
endforeach()

add_test(NAME proc_store_losses_are_simulated COMMAND ${CMAKE_SOURCE_DIR}/perf/stores/losses -n 3 -m 64 ${CMAKE_BINARY_DIR})
set_tests_properties(proc_store_losses_are_simulated PROPERTIES LABELS proc TIMEOUT 60
                     PASS_REGULAR_EXPRESSION "64,1,4,[0-9.]+,[0-9.]+,[-0-9.]+,[0-9.]+\n64,16,4,,[0-9.]+,")
