# The kernels as real jobs, undisturbed, with deaths at chosen places and at random moments; included by this folder's
# CMakeLists.txt.
set(KEEL_KILLS_LONG 100 CACHE STRING "random deaths in each long test of tests/proc/kills.sh")

# proc_job(NAME RANKS NODES KERNEL [OPTIONS OF KEELRUN... PROGRAM] ARGUMENTS...): a job whose own verification is the test
function(proc_job name ranks nodes kernel)
  cmake_parse_arguments(job "" "" PROGRAM ${ARGN})
  if(DEFINED job_PROGRAM)
    set(options ${job_UNPARSED_ARGUMENTS})
  else()
    set(options)
    set(job_PROGRAM ${job_UNPARSED_ARGUMENTS})
  endif()
  add_test(NAME proc_${name} COMMAND keelrun -n ${ranks} --nodes ${nodes} --timeout 60 ${options}
                                     $<TARGET_FILE:${kernel}> ${job_PROGRAM})
  set_tests_properties(proc_${name} PROPERTIES LABELS proc TIMEOUT 90)
endfunction()

add_executable(sections lock_sections.c)
target_link_libraries(sections PRIVATE keel_kernel)

add_executable(waits wait_tokens.c)
target_include_directories(waits PRIVATE ${CMAKE_SOURCE_DIR}/transports)
target_link_libraries(waits PRIVATE keel_test_program keel_kernel)

proc_job(ft_s_alone 1 1 ft -c S)
proc_job(ft_s_verifies_on_2 2 1 ft -c S)
proc_job(ft_s_verifies_on_4 4 4 ft -c S --ckpt-every 1)
proc_job(ft_w_verifies_on_8 8 4 ft -c W --ckpt-every 2)
proc_job(ft_a_verifies_on_8 8 4 ft -c A)
proc_job(stencil_verifies_on_6 6 3 stencil -s 101x67 --ckpt-every 10)
proc_job(stencil_verifies_on_7_with_atomics 7 2 stencil -s 101x67 --atomics)
proc_job(ft_refuses_3_ranks 3 1 ft -c S)
set_tests_properties(proc_ft_refuses_3_ranks PROPERTIES PASS_REGULAR_EXPRESSION "must be a power of two")

# with logs as large as needed: a job starts in a third of the time
set(small_logs -x KEEL_OPLOG_SIZE=48m -x KEEL_GETLOG_SIZE=8m)

# RANK@STEP.PHASE: before the first checkpoint, in each phase of an iteration, in the last step; rank 0 too
foreach(death 0@0.0 3@0.2 0@3.3 1@4.0 6@4.1 7@4.2 2@5.3 5@7.0)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  proc_job(ft_survives_death_at_${place} 8 4 ft ${small_logs} PROGRAM -c S --ckpt-every 2 --die ${death})
endforeach()
foreach(death 0@0.1 4@1.0 0@17.0 3@18.1 7@41.1)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  set(run ${small_logs} PROGRAM -s 64x64 -n 40 --ckpt-every 5 --die ${death})
  proc_job(stencil_survives_death_at_${place} 8 4 stencil ${run})
endforeach()

# proc_job_reports(NAME PATTERN): the line with the outcome says so too
function(proc_job_reports name pattern)
  set_tests_properties(proc_${name} PROPERTIES PASS_REGULAR_EXPRESSION "\"verified\": \"yes\".*${pattern}"
                                               FAIL_REGULAR_EXPRESSION "exited with status;FAILED;catastrophic")
endfunction()

# Between an atomic and the gsync, after a posted one and after a fetching one: it is numbered where it was applied.
foreach(death 4@1.1 3@18.1 7@21.1 5@40.1)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  set(run ${small_logs} PROGRAM -s 64x64 -n 40 --ckpt-every 5 --atomics --json --die ${death})
  proc_job(stencil_with_atomics_survives_death_on_one_node_at_${place} 8 1 stencil ${run})
  proc_job_reports(stencil_with_atomics_survives_death_on_one_node_at_${place} "\"rollbacks\": 0,")
endforeach()
# And after one that rank 0 fetched from its own memory, among others' there: on one node their order is not known; where the
# target's process applies it it is.
proc_job(stencil_rolls_back_from_death_at_0_17_1 8 1 stencil ${small_logs} PROGRAM -s 64x64 -n 40 --ckpt-every 5 --atomics --json --die 0@17.1)
proc_job_reports(stencil_rolls_back_from_death_at_0_17_1 "\"rollbacks\": [1-9]")
foreach(death 4@1.1 3@18.1 7@21.1 0@17.0)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  set(run -x KEEL_LANES=served ${small_logs} PROGRAM -s 64x64 -n 40 --ckpt-every 5 --atomics --json --die ${death})
  proc_job(stencil_with_atomics_survives_death_at_${place} 8 4 stencil ${run})
  proc_job_reports(stencil_with_atomics_survives_death_at_${place} "\"rollbacks\": 0,")
endforeach()

# the same where the dead rank has a neighbour, who has been told of the atomic and was not its target
proc_job(stencil_with_atomics_survives_death_beside_a_neighbour 8 4 stencil
         ${small_logs} PROGRAM -s 64x64 -n 40 --ckpt-every 5 --atomics --json --die 3@21.1)
proc_job_reports(stencil_with_atomics_survives_death_beside_a_neighbour "\"rollbacks\": 0,")

# with logs too small for the run: whoever dies begins at an image that it took because a log was full, and no log ran over
foreach(death 0@397.1 3@301.0)
  foreach(nodes 1 4)
    string(REGEX REPLACE "[@.]" "_" place ${death})
    set(name stencil_begins_at_its_own_image_after_${place}_on_${nodes})
    proc_job(${name} 8 ${nodes} stencil -x KEEL_OPLOG_SIZE=256k -x KEEL_OPLOG_SOFT=15 -x KEEL_GETLOG_SIZE=1m
             -x KEEL_CKPT_INTERVAL=off -x KEEL_VERBOSE=y PROGRAM -s 256x256 -n 400 --die ${death})
    set_tests_properties(proc_${name} PROPERTIES PASS_REGULAR_EXPRESSION "began at its own image of position [0-9]+"
                         FAIL_REGULAR_EXPRESSION "is full;roll back;rolled back;FAILED;catastrophic")
  endforeach()
endforeach()

proc_job(sections_verify_on_5 5 2 sections -n 30 --ckpt-every 7)
proc_job(sections_verify_on_8_of_one_node 8 1 sections -n 4000 --ckpt-every 500)
# inside a section before and after its accesses, after it, in a reading epoch; rank 0 too
foreach(death 3@0.0 0@100.1 5@333.2 7@1000.0 2@1999.1)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  proc_job(sections_survive_death_at_${place} 8 1 sections ${small_logs} PROGRAM -n 2000 --ckpt-every 300 --die ${death})
endforeach()

proc_job(waits_verify_on_5 5 2 waits -n 60 --ckpt-every 7)
proc_job(waits_verify_on_8_of_one_node 8 1 waits -n 300 --ckpt-every 50)
# before an access of a token's holder, right before it passes it on, before a first one; rank 0 too
foreach(death 0@0.1 3@20.2 5@33.5 7@100.0 1@151.3)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  proc_job(waits_survive_death_at_${place} 8 1 waits ${small_logs} PROGRAM -n 200 --ckpt-every 30 --die ${death})
endforeach()

proc_job(dht_verifies_on_2_with_think_time 2 1 dht -n 5000)
proc_job(dht_verifies_on_5 5 2 dht -n 1000 --closed --batch 100 --slots 509 --ckpt-every 4)
proc_job(dht_says_that_a_heap_is_full 3 1 dht -n 1000 --closed --slots 16 --cells 8)
set_tests_properties(proc_dht_says_that_a_heap_is_full PROPERTIES PASS_REGULAR_EXPRESSION "a heap is full")
# before the first checkpoint, amid a batch and after it, after the last one
foreach(death 0@0.0 3@7.0 2@12.1 1@20.1)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  proc_job(dht_rolls_back_from_death_at_${place} 8 4 dht ${small_logs} PROGRAM -n 1000 --batch 50 --closed --ckpt-every 3
           --json --die ${death})
  proc_job_reports(dht_rolls_back_from_death_at_${place} "\"rollbacks\": [1-9]")
endforeach()

proc_job(cg_s_alone 1 1 cg -c S)
proc_job(cg_w_verifies_on_3 3 1 cg -c W --ckpt-every 4)
proc_job(cg_s_verifies_on_5 5 2 cg -c S)
# in each phase of a step, in the first, second and last step of an iteration; rank 0 too
foreach(death 0@0.0 3@100.1 6@107.0 0@121.2 5@404.1)
  string(REGEX REPLACE "[@.]" "_" place ${death})
  proc_job(cg_survives_death_at_${place} 8 1 cg ${small_logs} PROGRAM -c S --ckpt-every 3 --die ${death})
endforeach()

# every access also at extra processes, which check that they record what was sent
proc_job(ft_w_verifies_with_message_logging 6 2 ft_ml -x ML_LOGGERS=2 -x ML_CHECK=y PROGRAM -c W)
proc_job(cg_s_verifies_with_message_logging 4 1 cg_ml -x ML_CHECK=y PROGRAM -c S)
proc_job(dht_verifies_with_message_logging 5 2 dht_ml -x ML_LOGGERS=2 -x ML_CHECK=y
         PROGRAM -n 1000 --closed --batch 100)
proc_job(hydro_verifies_with_message_logging 5 2 hydro_ml -x ML_LOGGERS=1 -x ML_CHECK=y PROGRAM -s 3 -n 30)
proc_job(stencil_verifies_with_message_logging 4 2 stencil_ml -x ML_CHECK=y PROGRAM -s 101x67 -n 50 --atomics)
proc_job(message_logging_says_what_it_logged 3 1 dht_ml -x ML_VERBOSE=y PROGRAM -n 100 --batch 10 --closed)
# 200 inserts, 98 of them at the other rank, and four records more for the one collision, which is there too; a put of rank 1's
# count; of each rank markers: two windows, the clock's start, its gsync and its stop, eleven steps, the end
set_tests_properties(proc_message_logging_says_what_it_logged PROPERTIES
                     PASS_REGULAR_EXPRESSION "ml: 137 records")
# of each rank three markers, and the seven accesses that are not empty: only those to somebody else
add_executable(access_kinds_ml access_kinds.c)
target_link_libraries(access_kinds_ml PRIVATE keel_kernel_ml)
proc_job(message_logging_records_no_access_to_itself 3 1 access_kinds_ml -x ML_VERBOSE=y PROGRAM 0)
set_tests_properties(proc_message_logging_records_no_access_to_itself PROPERTIES PASS_REGULAR_EXPRESSION
                     "ml: 6 records, 192 bytes")
proc_job(message_logging_records_accesses_of_each_kind 3 1 access_kinds_ml -x ML_VERBOSE=y PROGRAM 1)
set_tests_properties(proc_message_logging_records_accesses_of_each_kind PROPERTIES PASS_REGULAR_EXPRESSION
                     "ml: 20 records, 640 bytes")
# two puts and two gets of 8 bytes, three atomics of 24
proc_job(message_logging_keeps_data_of_each_kind 3 1 access_kinds_ml -x ML_VERBOSE=y PROGRAM 1)
set_tests_properties(proc_message_logging_keeps_data_of_each_kind PROPERTIES PASS_REGULAR_EXPRESSION
                     "ml: rank 0 kept 104 bytes")
proc_job(message_logging_refuses_too_many_loggers 3 1 dht_ml -x ML_LOGGERS=2 PROGRAM -n 100)
set_tests_properties(proc_message_logging_refuses_too_many_loggers PROPERTIES PASS_REGULAR_EXPRESSION "half the ranks")

# proc_kills(NAME PROGRAM LANE ARGUMENTS...)
function(proc_kills name program lane)
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/kills.sh --build ${CMAKE_BINARY_DIR} --program ${program}
                                --lane ${lane} ${ARGN})
  # one at a time: each is a job of eight ranks, and one that others keep from the cores for seconds is taken for hung
  set_tests_properties(${name} PROPERTIES LABELS proc SKIP_RETURN_CODE 77 TIMEOUT 3600 RUN_SERIAL TRUE)
endfunction()

# Seventeen deaths over each choice of lanes; the atomics are answered by rollbacks.
set(kills_ft 3)
set(kills_stencil 3)
set(kills_stencil-atomics 3)
set(kills_sections 2)
set(kills_waits 2)
set(kills_dht 2)
set(kills_cg 2)
set(kills_size_cg --ranks 4 --nodes 2) # its many gsyncs take long between nodes
foreach(lane direct served auto)
  set(netns no)
  if(lane STREQUAL auto)
    set(netns auto)
  endif()
  foreach(program ft stencil stencil-atomics sections waits dht cg)
    proc_kills(proc_kills_${program}_${lane} ${program} ${lane} --runs ${kills_${program}} --netns ${netns}
               ${kills_size_${program}})
    proc_kills(proc_kills_long_${program}_${lane} ${program} ${lane} --runs ${KEEL_KILLS_LONG} --netns ${netns})
    proc_kills(proc_kills_long_${program}_${lane}_twice ${program} ${lane} --runs ${KEEL_KILLS_LONG}
               --victims 2 --netns ${netns})
  endforeach()
endforeach()

# Two of a group at once, and whole nodes: two parities cover both of them.
set(kills_two --parities 2 --runs 2)
proc_kills(proc_kills_together_ft_direct ft direct ${kills_two} --together 2 -x KEEL_GROUP_SIZE=8)
proc_kills(proc_kills_together_stencil_served stencil served ${kills_two} --together 2)
proc_kills(proc_kills_node_stencil_auto stencil auto ${kills_two} --nodes 2 --node yes)
# replaced by processes that wait
proc_kills(proc_kills_spares_ft_direct ft direct --spares 1 --runs 2)
proc_kills(proc_kills_spares_sections_served sections served --spares 1 --runs 2)
# logs too small for the run, and no coordinated checkpoints
proc_kills(proc_kills_demand_stencil_direct stencil direct --demand yes --runs 2)
proc_kills(proc_kills_demand_stencil_served stencil served --demand yes --runs 2)
foreach(lane direct served auto)
  proc_kills(proc_kills_long_demand_stencil_${lane} stencil ${lane} --demand yes --runs ${KEEL_KILLS_LONG})
endforeach()
# eight ranks of a program and two that hold parity for them
set(kills_dedicated --ranks 10 --nodes 5 -x KEEL_PARITY=dedicated -x KEEL_CHECKSUM_RANKS=2)
proc_kills(proc_kills_dedicated_ft_served ft served ${kills_dedicated} --runs 2)
foreach(lane direct served auto)
  proc_kills(proc_kills_long_dedicated_stencil_${lane} stencil ${lane} ${kills_dedicated}
             --runs ${KEEL_KILLS_LONG})
  set(kills_two --parities 2 --runs ${KEEL_KILLS_LONG})
  proc_kills(proc_kills_long_together_ft_${lane} ft ${lane} ${kills_two} --together 2 -x KEEL_GROUP_SIZE=8)
  proc_kills(proc_kills_long_together_stencil_${lane} stencil ${lane} ${kills_two} --together 2 --victims 2)
  proc_kills(proc_kills_long_node_stencil_${lane} stencil ${lane} ${kills_two} --nodes 2 --node yes)
endforeach()
