# Jobs that go on with fewer ranks: deaths in each kind of call, of the leader, one after another, and amid a shrink.
add_executable(shrinking shrinking.c)
target_include_directories(shrinking PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(shrinking PRIVATE keel)

# shrink_job(NAME LANE PATTERN ARGUMENTS...)
function(shrink_job name lane pattern)
  add_test(NAME proc_shrink_${name}_${lane}
           COMMAND keelrun -n 5 --nodes 2 --timeout 60 -x KEEL_SHRINK=now -x KEEL_PROTECT=none -x KEEL_LANES=${lane} ${ARGN})
  set_tests_properties(proc_shrink_${name}_${lane} PROPERTIES LABELS proc TIMEOUT 100 PASS_REGULAR_EXPRESSION "${pattern}"
                       FAIL_REGULAR_EXPRESSION "is wrong;exited with;has not ended;was killed by signal;parity replaces;recovered locally")
endfunction()

foreach(lane auto served)
  shrink_job(ranks_go_on ${lane} "4 ranks remain, gone: 2; all is right" $<TARGET_FILE:shrinking> 12 2@5.1)
  shrink_job(leader_is_gone ${lane} "4 ranks remain, gone: 0; all is right" $<TARGET_FILE:shrinking> 12 0@5.0)
  shrink_job(lock_of_the_gone_is_free ${lane} "3 ranks remain, gone: 1 0; all is right" $<TARGET_FILE:shrinking> 16 1@5.2,0@9.2)
  shrink_job(one_rank_remains ${lane} "1 ranks remain, gone: 3 0 4 1; all is right" $<TARGET_FILE:shrinking> 20
             3@2.1,0@5.0,4@9.1,1@13.2)
  shrink_job(death_amid_a_shrink ${lane} "3 ranks remain, gone: 4 0; all is right" $<TARGET_FILE:shrinking> 12 4@6.1,0@6.3)
  shrink_job(death_amid_windows ${lane} "3 ranks remain, gone: 1 3; all is right" $<TARGET_FILE:shrinking> 16 1@4.4,3@8.5)
endforeach()

# The same with checkpoints: state of a window, from the newest checkpoint.
add_executable(shrinking_saved shrinking_saved.c)
target_include_directories(shrinking_saved PRIVATE ${CMAKE_SOURCE_DIR}/tests/lib)
target_link_libraries(shrinking_saved PRIVATE keel)

# saved_job(NAME LANE KEEL_SHRINK PATTERN ARGUMENTS...)
function(saved_job name lane value pattern)
  add_test(NAME proc_shrink_${name}_${lane}
           COMMAND keelrun -n 5 --nodes 2 --restarts 1 --timeout 60 -x KEEL_SHRINK=${value} -x KEEL_GROUP_SIZE=3
                   -x KEEL_CKPT_INTERVAL=off -x KEEL_LANES=${lane} $<TARGET_FILE:shrinking_saved> ${ARGN})
  set_tests_properties(proc_shrink_${name}_${lane} PROPERTIES LABELS proc TIMEOUT 100 PASS_REGULAR_EXPRESSION "${pattern}"
                       FAIL_REGULAR_EXPRESSION "is wrong;exited with;has not ended;was killed by signal")
endfunction()

foreach(lane auto served)
  saved_job(goes_back_to_the_checkpoint ${lane} now "4 ranks from checkpoint 2.*4 ranks remain, gone: 2; all is right" 14 2@8.1)
  saved_job(goes_back_without_the_leader ${lane} now "4 ranks remain, gone: 0; all is right" 14 0@8.0)
  saved_job(goes_back_to_the_start ${lane} now "4 ranks from the program's start.*4 ranks remain, gone: 1; all is right" 14 1@2.1)
  saved_job(death_amid_a_checkpoint ${lane} now "3 ranks remain, gone: 1 3; all is right" 14 1@6.2,3@9.3)
  saved_job(death_amid_a_way_back ${lane} now "3 ranks remain, gone: 4 0; all is right" 14 4@8.1,0@9.4)
  saved_job(one_rank_goes_back ${lane} now "1 ranks remain, gone: 3 0 4 1; all is right" 20 3@4.1,0@7.0,4@10.1,1@13.1)
  saved_job(replaces_first ${lane} last "recovered in.*3 ranks remain, gone: 2 0; all is right" 14 2@5.1,2@8.11,0@11.1)
endforeach()

add_test(NAME proc_shrink_refuses_what_is_not_built
         COMMAND keelrun -n 2 --timeout 60 --spares 1 -x KEEL_SHRINK=now $<TARGET_FILE:shrinking> 2)
set_tests_properties(proc_shrink_refuses_what_is_not_built PROPERTIES LABELS proc TIMEOUT 100
                     PASS_REGULAR_EXPRESSION "KEEL_SHRINK: this launcher declares no rank gone")

# the last rank dies: no process is started in its place
add_test(NAME proc_shrink_ends_with_the_last_rank
         COMMAND keelrun -n 2 --timeout 60 -x KEEL_SHRINK=now -x KEEL_PROTECT=none $<TARGET_FILE:shrinking> 12 1@3.1,0@7.1)
set_tests_properties(proc_shrink_ends_with_the_last_rank PROPERTIES LABELS proc TIMEOUT 100
                     PASS_REGULAR_EXPRESSION "rank 0 .incarnation 0. was killed by signal 9 .Killed. and no rank is left to go on"
                     FAIL_REGULAR_EXPRESSION "is wrong;has not ended;incarnation 1;all is right")

# a job that a rank of a shrinking job starts
add_test(NAME proc_shrink_is_not_inherited
         COMMAND keelrun -n 2 --timeout 60 -x KEEL_PROTECT=none $<TARGET_FILE:shrinking> 2)
set_tests_properties(proc_shrink_is_not_inherited PROPERTIES LABELS proc TIMEOUT 100 ENVIRONMENT KEELRUN_SHRINK=1
                     PASS_REGULAR_EXPRESSION "2 ranks remain, gone:; all is right" FAIL_REGULAR_EXPRESSION "is wrong;exited with")
