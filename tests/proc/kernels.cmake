# The kernels as the figures run them: under little protection, in large classes, and what they tell; included by this
# folder's CMakeLists.txt after kills.cmake.
foreach(protect none puts)
  set(run -x KEEL_PROTECT=${protect} PROGRAM)
  proc_job(cg_s_verifies_under_${protect} 2 1 cg ${run} -c S)
  proc_job(dht_verifies_under_${protect} 2 1 dht ${run} -n 2000 --closed)
  proc_job(stencil_verifies_under_${protect} 2 1 stencil ${run} -s 101x67 --atomics)
endforeach()

proc_job(cg_a_verifies_on_2 2 1 cg -x KEEL_PROTECT=none PROGRAM -c A)

# proc_kernel_deaths(KERNEL LANE:RANK@STEP.PLACE...): local recoveries of a kernel that has checkpoints
function(proc_kernel_deaths kernel)
  foreach(death ${ARGN})
    string(REGEX REPLACE "[:@.]" "_" place ${death})
    string(REGEX MATCH "^[a-z]*" lane ${death})
    string(REGEX REPLACE "^[a-z]*:" "" death ${death})
    proc_job(${kernel}_survives_death_${place} 4 2 ${kernel} -x KEEL_LANES=${lane} ${small_logs} PROGRAM --ckpt-every 10 --json --die ${death})
    proc_job_reports(${kernel}_survives_death_${place} "\"rollbacks\": 0,")
  endforeach()
endfunction()

# kernels with their input in a store: alone, as a death finds them in the submit, in the middle and in the last step, and as
# keelrun kills them at any moment
proc_job(kmeans_verifies_alone 1 1 kmeans)
proc_job(kmeans_verifies_on_5 5 2 kmeans -s 10007 -d 3 -k 5 --copies 2 --ckpt-every 7)
proc_job(kmeans_verifies_without_protection 2 1 kmeans -x KEEL_PROTECT=none PROGRAM -n 10)
proc_kernel_deaths(kmeans direct:1@0.1 direct:3@31.1 served:0@25.0 served:2@51.1)
proc_job(pagerank_verifies_alone 1 1 pagerank)
proc_job(pagerank_verifies_on_5 5 2 pagerank -s 10007 -d 3 --copies 2 --ckpt-every 7)
proc_job(pagerank_verifies_on_more_ranks_than_vertices 5 1 pagerank -s 3)
proc_job(pagerank_verifies_without_protection 2 1 pagerank -x KEEL_PROTECT=none PROGRAM -n 10)
proc_kernel_deaths(pagerank direct:1@0.1 direct:3@15.0 served:0@25.0 served:2@31.1)

# Energies as published; with and without neighbours in the same rank, in the first phases, in the middle, and in the last step.
proc_job(hydro_5_verifies_alone 1 1 hydro --sides 1 --json)
set_tests_properties(proc_hydro_5_verifies_alone PROPERTIES PASS_REGULAR_EXPRESSION "72, \"energy\": \"7.853665e.03\".*\"yes\"")
proc_job(hydro_10_verifies_on_4 4 2 hydro --ckpt-every 50 --json)
set_tests_properties(proc_hydro_10_verifies_on_4 PROPERTIES PASS_REGULAR_EXPRESSION "231, \"energy\": \"2.720531e.04\".*\"yes\"")
proc_job(hydro_verifies_27_subdomains_on_5 5 2 hydro -s 2 --sides 3 -n 30)
proc_job(hydro_verifies_without_protection 2 1 hydro -x KEEL_PROTECT=none PROGRAM -n 20)
proc_job(hydro_refuses_more_ranks_than_subdomains 2 1 hydro --sides 1)
set_tests_properties(proc_hydro_refuses_more_ranks_than_subdomains PROPERTIES PASS_REGULAR_EXPRESSION "more ranks than subdomains")
foreach(death direct:1@0.0 direct:3@30.1 served:0@30.0 served:2@60.0)
  string(REGEX REPLACE "[:@.]" "_" place ${death})
  string(REGEX MATCH "^[a-z]*" lane ${death})
  string(REGEX REPLACE "^[a-z]*:" "" death ${death})
  proc_job(hydro_survives_death_${place} 4 2 hydro -x KEEL_LANES=${lane} ${small_logs} PROGRAM -s 3 -n 60 --ckpt-every 20 --json --die ${death})
  proc_job_reports(hydro_survives_death_${place} "\"rollbacks\": 0,")
endforeach()
# images without logs: all ranks go back
proc_job(hydro_rolls_back_from_death_at_2_30_1 4 2 hydro -x KEEL_PROTECT=ckpt PROGRAM -s 3 -n 60 --ckpt-every 20 --json --die 2@30.1)
proc_job_reports(hydro_rolls_back_from_death_at_2_30_1 "\"rollbacks\": 1,")
foreach(program kmeans pagerank hydro)
  foreach(lane direct served)
    proc_kills(proc_kills_${program}_${lane} ${program} ${lane} --runs 1 --ranks 4 --nodes 2 --seed 46)
    proc_kills(proc_kills_long_${program}_${lane} ${program} ${lane} --runs ${KEEL_KILLS_LONG})
  endforeach()
endforeach()

# proc_job_long(NAME ...): proc_job() of minutes
function(proc_job_long name)
  proc_job(long_${name} ${ARGN})
  set_tests_properties(proc_long_${name} PROPERTIES LABELS proc TIMEOUT 630)
endfunction()
set(minutes --timeout 600 -x KEEL_PROTECT=none -x KEEL_CKPT_INTERVAL=off PROGRAM)
proc_job_long(cg_b_verifies_on_2 2 1 cg ${minutes} -c B)
proc_job_long(ft_b_verifies_on_2 2 1 ft ${minutes} -c B)

# each is a function of kernels_test.sh
foreach(case
        steps_done_again_are_counted cpu_time_is_reported_by_every_process what_is_set_up_is_not_timed share_of_inserts_is_reported
        images_of_a_timed_run_find_their_memory logs_grow_with_images many_phases_ask_for_images a_replacement_counts_its_own recoveries_are_counted
        spoilt_ft_is_found spoilt_cg_is_found spoilt_kmeans_is_found spoilt_pagerank_is_found spoilt_hydro_is_found hydro_is_the_same_on_any_ranks
        costs_of_logging_are_printed work_is_that_since_the_image time_in_the_store_is_reported
        spoilt_stencil_is_found spoilt_dht_is_found spoilt_log_is_found peak_is_that_of_the_timed_run)
  add_test(NAME proc_kernels_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/kernels_test.sh ${CMAKE_BINARY_DIR} ${case})
  set_tests_properties(proc_kernels_${case} PROPERTIES LABELS proc TIMEOUT 300)
endforeach()
# of times, though only of their ratios
set_tests_properties(proc_kernels_what_is_set_up_is_not_timed proc_kernels_share_of_inserts_is_reported PROPERTIES
                     RUN_SERIAL TRUE)
