# Stores: every load equals what was submitted, through deaths before and after submits and amid loads.
add_executable(stored stored.c)
target_include_directories(stored PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(stored PRIVATE keel)
foreach(lane direct served)
  foreach(flags permuted consecutive static)
    add_test(NAME proc_store_loads_equal_submits_${flags}_${lane}
             COMMAND keelrun -n 4 --nodes 2 --timeout 100 -x KEEL_LANES=${lane} -x KEEL_CKPT_INTERVAL=off
                     $<TARGET_FILE:stored> 2 ${flags} 1@0.1,2@4.0,0@9.2,3@12.1,1@17.0)
    set_tests_properties(proc_store_loads_equal_submits_${flags}_${lane} PROPERTIES LABELS proc TIMEOUT 150
                         PASS_REGULAR_EXPRESSION "rollbacks: right" FAIL_REGULAR_EXPRESSION "is wrong;exited with;has not ended")
  endforeach()
endforeach()
