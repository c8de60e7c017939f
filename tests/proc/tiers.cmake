# The tiers of the tests of this folder: of each family the tier check has what finds a common mistake within seconds.
keel_tiers(
  DEEP "proc_(counted|deaths|detect|figures|files|kernels|kills|limits|mixed|numbers|output|perftest|polling|rehearsal|split|topo|trace)_.*"
       "proc_(cg|dht|ft|hydro|kmeans|pagerank|sections|stencil|waits)_.*" "proc_accesses_allocate_nothing_on_[12]_nodes" proc_preload_table_is_printed
       proc_attach_own_memory_served
       "proc_job_(what_was_put_is_sent_before_looking|programs_that_mix_all_ways_roll_back|programs_that_test_words_are_recovered)"
  CHECK proc_hydro_5_verifies_alone proc_hydro_verifies_27_subdomains_on_5 proc_hydro_survives_death_direct_3_30_1
        proc_kmeans_verifies_on_5 proc_pagerank_verifies_on_5 proc_pagerank_survives_death_direct_3_15_0 proc_kmeans_survives_death_served_0_25_0 "proc_(cg_s_verifies|sections_verify)_on_5" proc_cg_survives_death_at_0_121_2 proc_sections_survive_death_at_5_333_2
        proc_dht_verifies_on_5 proc_dht_rolls_back_from_death_at_3_7_0 proc_waits_verify_on_5 proc_waits_survive_death_at_5_33_5
        proc_ft_s_verifies_on_4 proc_ft_refuses_3_ranks proc_ft_survives_death_at_1_4_0
        proc_stencil_verifies_on_6 proc_stencil_survives_death_at_0_17_0 proc_stencil_rolls_back_from_death_at_0_17_1
        proc_stencil_with_atomics_survives_death_on_one_node_at_7_21_1 proc_stencil_with_atomics_survives_death_at_3_18_1
        proc_stencil_begins_at_its_own_image_after_3_301_0_on_4
        "proc_files_(a_killed_job_goes_on_from_files|the_tool_tells_what_is_there)"
        "proc_kernels_spoilt_.*_is_found" proc_limits_transports_that_do_not_do_are_named
        "proc_numbers_(wrong_options_are_refused|interval_is_dalys|rounds_begin.*)" proc_output_lines_appear_once_direct
        "proc_perftest_(bad_arguments_are_refused|ucx_reads_its_option)" proc_polling_accesses_kill_direct
        proc_rehearsal_forgotten_protection_is_found "proc_trace_(a_local_recovery_is_traced|a_lost_job_is_counted)" "proc_topo_(wrong_files_are_named|a_job_shows_its_own_topology)"
  # deaths at chosen places of kernels: drawn programs of the simulator die at such places many times a night
  LONG "proc_.*_all" "proc_long_.*" "proc_kills_long_.*"
       # proc_kills_(together|spares|demand|dedicated)_ kill the same kernels over the same lane, and proc_kills_X_auto over both at once
       "proc_kills_(ft|stencil)_direct" "proc_kills_(ft|stencil|sections)_served"
       proc_deaths_cost_as_documented_direct "proc_ft_survives_death_at_(0_0_0|3_0_2|0_3_3|6_4_1|2_5_3)"
       "proc_stencil_survives_death_at_(0_0_1|4_1_0|3_18_1)" "proc_stencil_with_atomics_survives_death_on_one_node_at_[345]_.*"
       "proc_stencil_with_atomics_survives_death_at_(4_1_1|7_21_1)" "proc_stencil_begins_at_its_own_image_after_(0_397_1_on_1|3_301_0_on_1)"
       "proc_sections_survive_death_at_(3_0_0|7_1000_0)" "proc_waits_survive_death_at_(3_20_2|7_100_0)"
       "proc_dht_rolls_back_from_death_at_2_12_1" "proc_cg_survives_death_at_(3_100_1|6_107_0)"
       # shares of a time, which depend on what else runs
       "proc_kernels_(what_is_set_up_is_not_timed|share_of_inserts_is_reported)"
       # a half of a split network without an arbiter; of mpirun that spawns one job in thirty does not end
       proc_split_neither_half_goes_on "proc_spares_mpirun_(spawns_a_replacement|replaces_a_spawned_process)"
       "proc_spares_mpirun_with_spares_survives_(kill_of_rank_0|stop)")
