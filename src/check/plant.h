/*
 * Planted defects: measures of the protocol that a test can disable one by one, to verify that the
 * test notices. Without KEEL_PLANTED_DEFECTS, which is set only for the tests' own copy of the
 * layers, KEEL_PLANT() is 0 and the library contains no trace of planted defects; lint checks the
 * absence. To add a defect: a line here, and KEEL_PLANT(name) as a term of a condition at the
 * measure. The name begins with the name of the file. Where no condition expresses the defect,
 * KEEL_PLANT_CALL(name, ...) calls keel_planted_name() of the tests' folder.
 */
#ifndef KEEL_CHECK_PLANT_H_
#define KEEL_CHECK_PLANT_H_

#include <stddef.h>

/*
 * Entries: name, number of runs within which the simulator must notice, options of the runs,
 * description; 0 runs: drawn runs do not notice the defect (tests/records/planted.md). A --seed is
 * the first of the runs, shortly before the first noticing run: a change that moves the seed costs
 * time, not the test.
 */
#define KEEL_PLANTS(_)                                                                                                 \
    _(put_log_record_lost, 600, "", "the record that begins a log segment is not kept")                                \
    _(hand_over_twice, 4000, "--atomics 1", "records are handed over twice")                                           \
    _(served_applied_twice, 4000, "--lanes served --atomics 1",                                                        \
      "a record that was applied is applied again when it comes again")                                                \
    _(hand_over_reordered, 600, "", "the first record of a phase is handed over last")                                 \
    _(hand_over_skipped, 600, "", "a replacement is given arrivals without the records before them")                   \
    _(hand_over_arrival_first, 2000, "", "the arrival is announced before the records that it vouches for")            \
    _(position_hand_over_unawaited, 4000, "--seed 1230",                                                               \
      "a replacement at the front goes on before all have handed over")                                                \
    _(position_leave_without_behind, 4000, "", "a recovering process leaves without the arrivals of those behind")     \
    _(recovery_momentary_position, 8000, "--ranks 3 --phases 3 --seed 6900",                                           \
      "survivors count as being where they are, not at the front")                                                     \
    _(get_live, 2000, "--seed 171", "a get that has a record is done again at the same position")                      \
    _(get_fast_in_replay, 4000, "--lanes direct --direct ptr",                                                         \
      "a get takes the fast path though it is to be answered from a record")                                           \
    _(atomic_stored_unpushed, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr",                              \
      "an atomic is marked done before its fetched value has a record, in a program that does not wait")               \
    _(view_lane_changed_local, 8000, "--moves 1 --atomics 1 --deaths 1 --seed 390",                                    \
      "a replacement on another lane counts as knowing which atomics its predecessor did")                             \
    _(atomic_stored_counted_again, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr",                         \
      "a replacement does atomics again that were done, in a program that does not wait")                              \
    _(put_record_again_before_atomic, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr --seed 1020",          \
      "a replacement repeats puts that preceded an atomic that was done, in a program that does not wait")             \
    _(hand_over_without_atomics, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr",                           \
      "many atomics in one record are not handed over on mapped memory")                                               \
    _(apply_change_again, 4000, "--style races --posted 1 --lanes direct --direct ptr",                                \
      "an atomic whose change is known is done again")                                                                 \
    _(atomic_stored_change_passed_over, 8000,                                                                          \
      "--style races --posted 1 --lanes direct --direct ptr --ranks 3 --phases 2 --deaths 2 --seed 7900",              \
      "an atomic that was done before its source died counts as a known change")                                       \
    _(view_change_unfetched, 0, "", "a rank that changed a word by its value does not count as having fetched")        \
    _(decide_change_unhanded, 12000,                                                                                   \
      "--style races --posted 1 --lanes direct --direct ptr --ranks 3 --phases 2 --deaths 2",                          \
      "a change whose source had not handed it over counts as known")                                                  \
    _(fetch_own_change_early, 12000,                                                                                   \
      "--style waits --atomics 1 --posted 7 --lanes direct --direct ptr --ranks 4 --phases 3",                         \
      "a replacement changes own memory before it has what others changed it by")                                      \
    _(wait_over_by_some, 0, "", "a wait is over by some of what changed the word")                                     \
    _(view_half_done_local, 4000, "--style waits --atomics 1 --posted 1 --lanes direct --direct ptr",                  \
      "an atomic that its source died in counts as not done")                                                          \
    _(atomic_stored_again, 2000, "--style waits --atomics 1 --posted 1 --lanes direct --direct ptr",                   \
      "a replacement does atomics again that were done, in a program that waits")                                      \
    _(waits_fetch_unjoined, 2000, "--style waits --atomics 1 --posted 3 --ranks 4 --phases 3",                         \
      "a rank that fetches a value does not go beyond the clock found with it")                                        \
    _(determinant_fetch_unreplayed, 2000, "--style waits --atomics 1 --posted 3 --ranks 4 --phases 3",                 \
      "a replacement goes on by a value without what was put under its clock")                                         \
    _(fetch_unpushed, 2000, "--style waits --atomics 1 --posted 3 --lanes direct --direct ptr",                        \
      "an atomic is said to be done before the value that it found has a record")                                      \
    _(waits_own_clock_missing, 2000, "--style waits --atomics 1 --posted 3 --ranks 4 --phases 3",                      \
      "the own clock of a process is not among the clocks that are found there")                                       \
    _(decide_awaited_local, 4000,                                                                                      \
      "--style waits --atomics 1 --posted 3 --lanes served --ranks 3 --phases 3 --deaths 1",                           \
      "a value that is awaited from the dead rank does not refuse local recovery")                                     \
    _(pending_fetch_first, 0, "", "a fetch that is repeated may precede fetches of other ranks that were answered")    \
    _(pending_fetch_without_piggyback, 0, "", "values that were not piggybacked do not refuse local recovery")         \
    _(piggyback_left_out, 0, "", "a reply does not piggyback values that others found at that word")                   \
    _(pending_fetch_piggyback_unused, 0, "", "a value that was piggybacked is not given to the rank that awaits it")   \
    _(piggyback_confirmed_early, 0, "", "a value counts as received when it is requested")                             \
    _(determinants_result_unstable, 2000, "--style waits --atomics 1 --posted 5 --ranks 4 --phases 3",                 \
      "a determinant is made stable after the program has gone on by it")                                              \
    _(determinant_unflushed, 1000,                                                                                     \
      "--style waits --atomics 1 --posted 5 --lanes served --ranks 4 --phases 3 --deaths 1 --seed 700",                \
      "a determinant is still on its way when the program goes on by it")                                              \
    _(words_unreplayed, 2000, "--style waits --atomics 1 --posted 5 --ranks 4 --phases 3",                             \
      "a replacement repeats a determinant without the puts under its clock")                                          \
    _(words_from_memory, 1000, "--style waits --atomics 1 --posted 5 --ranks 4 --phases 3",                            \
      "a replacement answers from its memory, and not from the determinants of its predecessor")                       \
    _(words_unrejoined, 0, "", "a replacement does not go beyond the clock of a result that it repeats")               \
    _(fetch_unrejoined, 0, "", "a replacement does not go beyond the clock of a value that its predecessor fetched")   \
    _(poll_unrejoined, 0, "", "a replacement does not go beyond the clock of a value that its predecessor polled")     \
    _(fetch_own_unrejoined, 0, "",                                                                                     \
      "a replacement does not go beyond the clock of a fetch from its own memory that it repeats")                     \
    _(completion_look_unrecorded, 2000, "--style waits --atomics 1 --posted 8 --lanes served --ranks 4 --phases 3",    \
      "a look that finds a request in progress has no record")                                                         \
    _(completion_get_ungiven, 2000, "--style waits --atomics 1 --posted 8 --lanes served --ranks 4 --phases 3",        \
      "a get gives a request only while it is in progress")                                                            \
    _(words_repeated, 0, "", "a result counts as the last one again, though more was put meanwhile")                   \
    _(determinant_behind_get, 0, "", "a determinant is complete before a get whose record precedes it")                \
    _(determinants_moved, 0, "", "the next determinant goes to another rank while the last one is not stable")         \
    _(view_ahead_determinants, 0, "", "the determinants of a rank that had left a gsync first are not looked for")     \
    _(fetch_own_late, 0, "", "a repeated fetch from own memory is done after the puts that overwrite the word")        \
    _(fetch_own_unopened, 3000,                                                                                        \
      "--stores x86 --style waits --atomics 1 --posted 4 --lanes direct --direct ptr --ranks 3 --phases 3 --deaths 1", \
      "a fetch from own memory is seen before another rank knows that a record will follow")                           \
    _(view_own_open_local, 3000,                                                                                       \
      "--stores x86 --style waits --atomics 1 --posted 4 --lanes direct --direct ptr --ranks 3 --phases 3 --deaths 1", \
      "a fetch from own memory whose record may be missing does not refuse local recovery")                            \
    _(sync_swaps_in_waits, 2000, "--style waits --atomics 1 --posted 2 --ranks 5 --phases 3",                          \
      "atomics that do not commute do not refuse local recovery, in a program that waits")                             \
    _(put_signal_unfenced, 200, "--style waits --direct rma --lanes direct --phases 1 --ranks 6 --seed 500",           \
      "a signal passes what was put before it, by operations")                                                         \
    _(put_record_before_get_records, 4000, "--ranks 3 --lanes direct --direct ptr",                                    \
      "a put may overwrite what was read before its record is there")                                                  \
    _(flush_without_get_records, 2000, "", "an arrival is announced before the get records are there")                 \
    _(determinant_new_get_alone, 0, "",                                                                                \
      "a replacement that reads beyond its predecessor's death does not take the rest of what was put")                \
    _(context_news_ignored, 0, "", "calls that complete at once look for no news")                                     \
    _(ordering_fence_open, 2000, "--wide 1", "a fence does not wait for what is being read")                           \
    _(position_no_refill, 4000, "", "a replacement's get log is not filled again by its sources")                      \
    _(position_refill_last, 4000, "",                                                                                  \
      "a replacement's get log is filled again after the records that overwrite the values read")                      \
    _(win_memory_initial_lost, 0, "", "a rollback to the start leaves zeros where windows held something at first")    \
    _(win_attach_again, 0, "", "memory that is attached again counts, and not what the image had there")               \
    _(win_attached_since, 0, "", "a rollback leaves memory attached that was not yet when the image was taken")        \
    _(admit_message_unmixed, 0, "", "accesses by message, which no log has, leave local recovery possible")            \
    _(put_log_trim_too_far, 600, "", "one phase more than the image covers is trimmed")                                \
    _(rebuild_unfinished, 2000, "--looks 1 --seed 430",                                                                \
      "an image whose rebuilding was cut short by another decision counts as there")                                   \
    _(image_torn, 600, "", "the second half of a part is not copied")                                                  \
    _(stop_early, 2000, "--style locks --points 400 --ranks 3",                                                        \
      "a replacement joins a stop before it has done again what its predecessor did")                                  \
    _(decide_stop_local, 2000, "--style locks --points 400 --ranks 3",                                                 \
      "a death amid a stop is recovered locally, though no rank knows where the dead rank joined")                     \
    _(stop_forgotten, 0, "", "the leader's replacement does not begin the stop again in which others wait")            \
    _(arrival_receive_stop_ends_phase, 400,                                                                            \
      "--style locks --points 400 --ranks 3 --lanes served --deaths 1 --parities 2",                                   \
      "the replacement of a rank that joined a stop is held to what its predecessor had done by then")                 \
    _(gsync_stop_unsafe, 2000, "--style locks --points 400 --ranks 3 --gsyncs 200",                                    \
      "the image of a stop has a rank that was in a call which is no safe point")                                      \
    _(restore_stop_unresumed, 2000, "--style locks --points 400 --ranks 3 --gsyncs 200",                               \
      "a gsync that a stop interrupted counts as passed in the image")                                                 \
    _(log_pressure_puts_alone, 0, "", "only the put log is looked at before logs are full")                            \
    _(gsync_no_second_barrier, 2000, "", "a process goes on while others copy their images")                           \
    _(coordinated_commit_in_group, 4000, "--ranks 8 --atomics 0 --seed 135",                                           \
      "a generation is used when the own group has it")                                                                \
    _(adopt_no_abort, 4000, "", "a death leaves the unfinished generation in the making")                              \
    _(gsync_arrive_frozen, 0, "--ranks 3 --lanes direct --direct ptr --dedicated 0 --parities 1",                      \
      "an arrival is announced between a death and its decision")                                                      \
    _(position_leave_frozen, 0, "", "a gsync is passed between a death and its decision: dead arrivals do not count")  \
    _(position_dead_arrivals, 2000, "", "arrivals of dead incarnations count")                                         \
    _(adopt_other_vector, 4000, "", "a decision for another view is taken up")                                         \
    _(view_leader_fixed, 600, "--leader 1", "reports go to rank 0 though another rank leads")                          \
    _(gsync_leader_fixed, 600, "--leader 1", "rank 0's arrival gives the orders though another rank leads")            \
    _(view_decides_on_any, 2000, "", "reports of other views are decided on")                                          \
    _(view_front_left_out, 6000, "--ranks 3 --seed 700", "a report leaves out the front that was accepted before")     \
    _(view_rolling_left_out, 4000, "", "a report leaves out a rollback under way")                                     \
    _(recover_late_control, 4000, "", "control messages of dead incarnations are taken")                               \
    _(served_late, 6000, "--lanes served --seed 4100", "data of dead incarnations is applied")                         \
    _(served_old_rollback_number, 0, "", "data from before a rollback is applied: the drain leaves none")              \
    _(rollback_no_drain, 4000, "", "a rollback restores while accesses are under way")                                 \
    _(rollback_no_barrier, 4000, "", "a process goes on while others are not restored")                                \
    _(decide_front_atomics_local, 6000, "--seed 1550", "atomics of the front phase do not refuse local recovery")      \
    _(decide_unhanded_local, 0, "--atomics 1 --deaths 2 --ranks 3 --soft 16 --lanes auto --direct ptr",                \
      "a replacement that waits for atomics of a dead rank does not refuse its local recovery")                        \
    _(wait_first_amid_replay, 0, "--style waits --ranks 3", "ranks begin to wait while a replacement re-executes")     \
    _(mix_unannounced, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                      \
      "a rank that begins to mix ways to synchronise does not announce it")                                            \
    _(mix_amid_replay, 0, "--style mixed --undeclared 1", "a rank begins to mix while a replacement re-executes")      \
    _(sync_mixed_local, 2000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                     \
      "mixing does not refuse local recovery")                                                                         \
    _(gsync_sections_incomplete, 2000, "--style locks --gsyncs 300 --atomics 0",                                       \
      "a replacement passes a gsync before what others did in sections until then is replayed")                        \
    _(demand_uncounted, 2000, "--style locks --gsyncs 500 --atomics 0 --deaths 1",                                     \
      "a rank's own image does not say how many critical sections it had seen")                                        \
    _(fetch_own_early, 2000, "--style waits --atomics 1 --posted 4 --lanes direct --direct ptr --ranks 4 --seed 4000", \
      "a replacement fetches from its own memory what others did there later")                                         \
    _(put_clockless, 2000,                                                                                             \
      "--style waits --atomics 1 --posted 0 --lanes direct --direct ptr --ranks 4 --seed 56805767900",                 \
      "a put on the short path after a wait is logged with the old clock")                                             \
    _(determinant_read_unstable, 2000, "--style waits --atomics 0 --lanes direct --direct ptr",                        \
      "what was read is recorded after what the program did by it")                                                    \
    _(get_read_elsewhere, 2000,                                                                                        \
      "--style waits --atomics 0 --lanes direct --direct ptr --ranks 4 --phases 3 --seed 1000",                        \
      "what was read has no record when what was read after it elsewhere has one")                                     \
    _(determinants_poll_unstable, 2000, "--style waits --atomics 1 --posted 6 --seed 6100",                            \
      "a polled value is not recorded at its target")                                                                  \
    _(poll_unjoined, 2000, "--style waits --atomics 1 --posted 6 --seed 1170",                                         \
      "a rank that polls does not go beyond the clock found")                                                          \
    _(poll_unreplayed, 2000, "--style waits --atomics 1 --posted 6",                                                   \
      "a replacement polls without what was put under the clock found")                                                \
    _(poll_repeated, 2000, "--style waits --atomics 1 --posted 6 --seed 310",                                          \
      "a poll counts as the last one again, though more was put meanwhile")                                            \
    _(view_open_put_fetched, 0, "--style waits --atomics 1 --posted 3 --direct ptr",                                   \
      "a put that its source died in is not in doubt, though a rank may have fetched a part of it")                    \
    _(put_log_off_unphased, 0, "",                                                                                     \
      "what waits for a replacement in a log that is off is not found by its phase, and counts as no loss")            \
    _(sync_unlogged_left_out, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                               \
      "a rank whose accesses are not logged does not mix")                                                             \
    _(elements_accumulate_overtakes, 4000, "--style mixed --lanes served",                                             \
      "an accumulate that fetches overtakes what was put before it")                                                   \
    _(put_signal_first, 2000, "--style mixed", "a signal is there before the data that it announces")                  \
    _(winlock_word_taken, 2000, "--style mixed", "the lock of a window is given to all that ask")                      \
    _(win_lock_revoke_unawaited, 0, "",                                                                                \
      "a rank that locks a window exclusively does not wait for the ranks that share it by bias")                      \
    _(win_share_unseen, 0, "", "a lock that is shared by bias is not made one that others see")                        \
    _(win_lock_revoke_forgotten, 0, "", "an image does not say that no lock is shared by bias any more")               \
    _(gathers_early, 4000, "--style mixed", "the root of a gather does not wait for what comes last")                  \
    _(collective_early, 2000, "--style mixed", "a group's barrier does not wait in its last round")                    \
    _(mix_bare_unannounced, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                 \
      "a rank that accesses without locks does not announce it")                                                       \
    _(sync_bare_local, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                      \
      "that others access without locks does not refuse local recovery")                                               \
    _(win_extents_kept, 600, "--extents 1",                                                                            \
      "an image is restored into the extents of now, and not of when it was taken")                                    \
    _(image_parts_moved, 600, "--extents 1", "an extent is saved from the beginning of its window")                    \
    _(image_content_locks_forgotten, 1000, "--style mixed",                                                            \
      "what was locked when an image was taken is not locked when it is restored")                                     \
    _(lock_number_missed, 0, "", "a lock's number that the log has no room for is not announced as lost")              \
    _(get_log_loss_unannounced, 8000, "--style locks",                                                                 \
      "a full get log does not announce the loss to targets whose records were not pushed")                            \
    _(get_log_replay_loss_last, 0, "",                                                                                 \
      "a replacement learns of a get log's loss after the puts that overwrite the values read")                        \
    _(announce_skipped, 0, "--style waits --atomics 1 --posted 3 --lanes direct --direct ptr --ranks 4 --phases 3",    \
      "a rank does not announce its usage to a rank that it accesses")                                                 \
    _(arrival_without_usage, 600, "--style races --ranks 3", "an arrival does not say what its sender uses")           \
    _(get_own_copied, 0, "", "a get from own memory is a copy, without a determinant")                                 \
    _(get_own_raced, 0, "", "before its first wait a replacement looks for ever for what is put in that phase")        \
    _(announced_not_passed_on, 0, "--style races --ranks 4 --deaths 2 --phases 3",                                     \
      "the first rank to leave a gsync does not announce the usage known there to its targets")                        \
    _(access_found_unjoined, 8000, "--style races --ranks 3 --deaths 2",                                               \
      "a rank that fetches does not learn what the target does to its own memory")                                     \
    _(decide_fetched_from_lost, 8000, "--style races --ranks 4 --deaths 2 --phases 3",                                 \
      "what was fetched from one of several that are lost does not refuse local recovery")                             \
    _(position_fetched_incomplete, 12000, "--style races --ranks 3 --lanes direct --direct ptr --seed 776",            \
      "a value is fetched from a replacement while others hand over to it")                                            \
    _(position_mixed_incomplete, 8000, "--style races --ranks 3 --phases 2 --seed 121800",                             \
      "an atomic that does not commute is done at a replacement while others hand over to it")                         \
    _(view_first_left_out, 4000, "--style races --ranks 2 --phases 1 --lanes direct --direct ptr",                     \
      "a rank without accesses does not report that a dead rank had done atomics")                                     \
    _(decide_races_local, 8000, "--style races --hunt awaited --lanes served --ranks 4 --phases 3 --seed 800",         \
      "values that were raced for do not refuse local recovery")                                                       \
    _(usage_sets_commute, 8000, "--style races --posted 1 --lanes served",                                             \
      "atomics SET of several ranks count as if they commuted")                                                        \
    _(decide_swaps_local, 4000, "--style races", "racing swaps do not refuse local recovery")                          \
    _(decide_lost_log_local, 6000, "--seed 643", "an incomplete log does not refuse local recovery")                   \
    _(decide_catastrophe_missed, 4000, "", "deaths beyond parity are taken for recoverable")                           \
    _(lock_claim_unfair, 0, "", "a rank takes a lock past ranks that have waited for it")                              \
    _(lock_claim_kept, 0, "", "ranks leave a lock to a dead rank that had waited for it")                              \
    _(view_lock_released, 2000, "--style locks", "a dead owner's lock is released instead of inherited")               \
    _(sections_unsorted, 2000, "--style locks", "critical sections are replayed as they come")                         \
    _(lock_replay_own_section_first, 2000, "--style locks", "an own section does not wait for those before it")        \
    _(replay_section_reordered, 2000, "--style locks", "the first put of a critical section is replayed last")         \
    _(replay_first_dropped, 2000, "--style locks", "the first critical section sent is not replayed")                  \
    _(put_log_record_alone, 0, "--style locks --wide 1", "a record is as long as a message, which has a head too")     \
    _(lock_replay_caught_up_in_past, 600, "--style locks", "a replacement is caught up amid a section that was over")  \
    _(lock_replay_caught_up_in_section, 8000, "--style locks --ranks 3 --phases 2 --seed 1400",                        \
      "a process is caught up amid an own section that others saw the end of")                                         \
    _(sections_caught_up_early, 0, "--style locks", "locks that the predecessor left do not keep from catching up")    \
    _(sections_open_sent, 4000, "--style locks --atomics 1 --seed 514", "an open section is replayed with the others") \
    _(lockword_reader_unseen, 4000, "--style locks", "a writer does not look for readers")                             \
    _(view_request_unnamed, 4000, "", "reports from before a request for a rollback are decided on")                   \
    _(rollback_request_not_passed_on, 4000, "", "the leader does not pass on a request that it learns of")             \
    _(get_log_replay_no_room, 0, "", "no harm: a replacement has no room for what was recorded, and rolls back")       \
    _(get_log_record_differs, 0, "", "no harm: a replacement's get is not the one recorded, and it rolls back")        \
    _(detect_silence_forgotten, 600, "--hangs 1",                                                                      \
      "a connection that breaks makes a rank forget how long its neighbour is silent")                                 \
    _(detect_repeats_uncounted, 0, "", "a silence is reported as a new one each time it is accused")                   \
    _(detect_repeats_kept, 0, "", "a silence is reported as the one before it, though an answer lay between")          \
    _(leave_exit_awaited, 600, "--splits 1",                                                                           \
      "a rank that leaves waits for the launcher's word on a broken connection, where none comes")                     \
    _(wait_early, 600, "--style waits", "a wait is answered before its condition holds")                               \
    _(sync_first_wait_local, 2000, "--style waits --phases 1 --dedicated 0 --ranks 3 --lanes direct --direct ptr",     \
      "waits that some did not know of do not refuse local recovery")                                                  \
    _(waits_unsorted, 2000, "--style waits", "what others put is replayed as it comes")                                \
    _(wait_replays_at_once, 2000, "--style waits", "all puts of others are replayed by the first wait")                \
    _(waits_alone, 2000, "--style waits", "a wait does not go beyond the clocks of others")                            \
    _(put_record_again, 2000, "--style waits --lanes direct --direct ptr --ranks 4 --phases 3",                        \
      "what the predecessor put is put again")                                                                         \
    _(position_flush_undecided, 4000, "--style waits --lanes auto --ranks 6 --phases 2 --dedicated 0 --seed 9000720",  \
      "a flush is over though its target is dead and not all know")                                                    \
    _(waits_ahead_left_out, 0, "--style waits --ranks 3 --phases 2 --deaths 3 --seed 4200",                            \
      "a report leaves out that a dead rank was ahead of all")                                                         \
    _(wait_open_unawaited, 4000,                                                                                       \
      "--style waits --lanes direct --direct ptr --atomics 0 --ranks 4 --phases 3 --seed 825",                         \
      "a wait returns while a put of another rank is under way")                                                       \
    _(wait_open_any, 0, "", "a wait returns when no put is under way, not when those are done that were")              \
    _(hand_over_cut_late, 0, "--style waits", "what is put after the decision is replayed before all rests are there") \
    _(waits_rest_unawaited, 4000, "--style waits", "a replacement goes on without the rest of what was put")           \
    _(put_record_amid_rest, 4000, "--style waits", "other ranks put to a replacement before it has replayed the rest") \
    _(trim_demand_too_far, 4000, "--soft 1", "one phase more than the demand image covers is trimmed")                 \
    _(trim_own_by_demand, 4000, "--soft 1",                                                                            \
      "a demand image trims the own put log, which the images of others are to cover")                                 \
    _(demand_unshared, 4000, "--soft 1", "a rank's own image is used before its group has the parity of it")           \
    _(exchange_over_generation, 2000, "--soft 1",                                                                      \
      "a demand image is written over the image of the generation, which a rollback needs")                            \
    _(waits_rest_uncounted, 0, "", "what a replacement has replayed of the rest does not count as done")               \
    _(hand_over_check_unread, 0, "", "a replacement does not compare what it did again with what others hold of it")   \
    _(gsync_first_uncopied, 0, "", "no rank waits while the leader copies its image because a log is full")            \
    _(demand_image_unawaited, 0, "",                                                                                   \
      "a rank does not wait before its arrival until its group has received its demand image")                         \
    _(repair_known_to_dead, 0, "", "an image known to a dead member counts as known to its replacement")               \
    _(view_off_log_complete, 0, "",                                                                                    \
      "a log that is off does not count as lost, and keeps no put to the dead rank waiting")                           \
    _(rebuild_decision_unseen, 4000,                                                                                   \
      "--hunt rebuild --ranks 5 --phases 6 --atomics 0 --dedicated 0 --parities 2 --seed 290",                         \
      "an image goes on being rebuilt though a death and its decision came in one step")                               \
    _(decide_front_below_base, 0, "", "the front stays before a gsync that a dead rank had left")                      \
    _(position_refill_unannounced, 0, "",                                                                              \
      "a rank that fills a replacement's get log again announces its fetches only when it hands over")                 \
    _(arrival_stored_first, 0, "", "an arrival is stored before what it vouches for on the board")                     \
    _(put_record_unopened, 0, "", "a put is stored without an open number")                                            \
    _(lock_doubt_cleared, 0, "", "atomics of a section are in doubt no more before the section is over")               \
    _(decide_starts_differ, 4000, "--soft 1 --seed 217", "ranks that begin at different positions recover together")   \
    _(control_pieces_mixed, 0, "--message 256",                                                                        \
      "pieces of a report are taken for those of an older one that was cut off")                                       \
    _(lockword_unbounded, 0, "", "a lock is taken again after its last number")                                        \
    _(put_log_numbers_again, 0, "", "records after the last number of a phase have number 0")                          \
    _(put_record_last_clock_logged, 0, "", "what is put under the last clock of a phase counts as logged")             \
    _(put_log_epoch_wasted, 0, "", "an epoch without a record is closed")                                              \
    _(epochs_unbounded, 0, "", "records may be older than half of all epochs")                                         \
    _(get_log_chunks_by_number, 600, "--late-counters 1",                                                              \
      "the order of a get log's chunks is that of their numbers, which come round")                                    \
    _(put_log_unnumbered_to, 0, "--late-counters 2", "a log with records that have no number counts as complete")      \
    _(put_log_unnumbered_from, 0, "--late-counters 2", "the source of records that have no number is recovered alone") \
    _(flush_unfenced, 0, "", "a flush returns before others see what was put")                                         \
    _(ordering_fence_unfenced, 4000, "--style waits --ranks 3 --lanes direct --direct ptr --stores arm",               \
      "what was put after a fence is seen before what was put before it")                                              \
    _(put_record_opened_unfenced, 0, "", "a put is seen before its number is")                                         \
    _(store_unfenced, 600, "--style locks --ranks 3 --lanes direct --direct ptr --stores x86",                         \
      "a word of a lock is stored, and others' are looked at before it is seen")                                       \
    _(store_release_relaxed, 1000, "--ranks 3 --lanes direct --direct ptr --stores arm",                               \
      "a word that says that something is there is seen before it")                                                    \
    _(put_send_redone, 0, "--direct rma --lanes direct",                                                               \
      "what a predecessor may have put already is put again, and not sent for the target to pass over")                \
    _(remote_put_passes, 2000, "--direct rma --lanes direct --ranks 3 --seed 1080",                                    \
      "a put or get passes requests that the target has yet to do")                                                    \
    _(issue_put_unannounced, 600, "--direct rma --lanes direct --ranks 3 --atomics 1",                                 \
      "a record after puts does not announce that these are there")                                                    \
    _(remote_put_unfenced, 1000, "--direct rma --lanes direct --ranks 3 --wide 1", "puts pass a fence")                \
    _(remote_put_record_unfenced, 1000, "--direct rma --lanes direct --ranks 3",                                       \
      "the record of a get is written to the target before what it brings is there")                                   \
    _(remote_put_claim_unfenced, 1000, "--direct rma --lanes direct --ranks 3",                                        \
      "the announcement of a get record may pass the record")                                                          \
    _(put_send_before_record, 1000, "--direct rma --lanes direct --ranks 3",                                           \
      "a put by an operation may overwrite what was read before its record is there")                                  \
    _(peer_put_unawaited, 1000, "--direct rma --lanes direct --ranks 3",                                               \
      "arrivals, drains and logs do not wait for puts by operations")                                                  \
    _(peer_disconnect_late, 1000, "--direct rma --lanes direct --ranks 3",                                             \
      "what a dead process, or one that leaves, has put lands until its replacement is met")                           \
    _(read_device_unfenced, 2000, "--style mixed --device 1 --direct rma --lanes direct --ranks 3",                    \
      "a device's atomic passes what was put before it")                                                               \
    _(device_unmixed, 2000, "--style mixed --device 1 --undeclared 1 --direct rma --lanes direct --ranks 3",           \
      "a rank does not announce a device's atomics, which no log has")                                                 \
    _(read_unended, 2000, "--direct read --lanes direct --ranks 4",                                                    \
      "what is read of an image of a process that dies meanwhile is awaited for ever")                                 \
    _(image_get_from_memory, 600, "--looks 1", "a request for an image is answered with the contents of memory")       \
    _(put_blocks_packed, 600, "--style mixed", "a put of blocks takes them one behind the other")                      \
    _(get_blocks_last_missed, 600, "--style mixed", "the last block of a get of blocks is not read")                   \
    _(served_blocks_last_missed, 600, "--strides 1 --lanes served --atomics 0",                                        \
      "of a put of several blocks the last one is not done by the service side")                                       \
    _(hand_over_last_part_missed, 600, "--strides 1 --lanes direct --direct ptr --atomics 0 --deaths 1",               \
      "of a put of several blocks the last one is not done when it is handed over to a replacement")                   \
    _(put_record_parts_again, 0, "", "a replacement repeats a put of several blocks that its predecessor did")         \
    _(put_record_parts_closed_early, 0, "", "a put of several blocks is marked done before it is")                     \
    _(replay_parts_unlooked, 0, "",                                                                                    \
      "the blocks of a put are not looked through for the words that are to be replayed")                              \
    _(store_part_signal_unordered, 0, "", "a signal is seen before the data that it announces, on mapped memory")      \
    _(get_blocks_first_alone, 600, "--strides 1", "a replacement is given the first block alone")                      \
    _(get_blocks_live, 0, "", "blocks that have a record are got again, but for the first")                            \
    _(once_printed_again, 0, "", "keelrun does not go back to where a rank that is taken back was")                    \
    _(threads_turn_kept, 0, "", "a call that waits gives no other thread its turn")                                    \
    _(threads_restored_early, 0, "", "keel_restore() does not wait until calls of other threads have ended")           \
    _(context_rollback_unended, 0, "", "a rollback does not end what several threads wait for")                        \
    _(gsync_unbounded, 0, "", "gsyncs go on after the last number")                                                    \
    _(determinants_kept_over_rollback, 300,                                                                            \
      "--style waits --atomics 1 --posted 5 --direct ptr --ranks 3 --phases 2 --deaths 3 --parities 2 --seed 170",     \
      "determinants of before a rollback to the same phase are kept")                                                  \
    _(arrival_lost_gets_left_out, 1000, "--tight 1 --ranks 3 --deaths 3 --lanes direct --direct ptr",                  \
      "an arrival by stores does not announce that gets have no record")                                               \
    _(usage_doubt_left_out, 0, "",                                                                                     \
      "an arrival by message does not announce that fetches of its sender from itself are in doubt")                   \
    _(usage_waits_left_out, 0, "", "an arrival by message does not announce that its sender waits")                    \
    _(words_asked_otherwise, 200, "--harsh --style waits --atomics 1 --posted 5 --direct ptr --ranks 3 --phases 2",    \
      "a determinant is repeated for the same words asked in another way")                                             \
    _(win_attach_start_detached, 0, "", "a detach after the start removes memory from what the start had attached")    \
    _(completion_tested_alone, 0, "",                                                                                  \
      "a replacement tests a new get to be complete without the rest of what others put")                              \
    _(determinant_holder_unannounced, 0, "",                                                                           \
      "the holder of determinants does not know that the log was off for some of them")                                \
    _(arrival_receive_lost_gets_taken_back, 100, "--harsh --tight 1 --ranks 3 --lanes served",                         \
      "an older arrival takes back that gets have no record")                                                          \
    _(sections_release_kept, 0, "", "a lock that was released to a dead rank is released once more after a rollback")  \
    _(waits_rest_clockless, 0, "", "the replacement's clock stays below that of the rest that it has replayed")        \
    _(waits_atomics_unnoted, 0, "", "atomics that a replacement takes to replay into waits do not count as issued")    \
    _(announced_waits_not_passed_on, 0, "", "a rank does not pass on that another one waits")                          \
    _(view_record_unbegun, 0, "", "a determinant known by its record alone does not count as a beginning")             \
    _(service_seal_unchecked, 0, "", "a message is taken whatever its sum is")                                         \
    _(service_seal_repeated, 0, "", "a message is taken again")                                                        \
    _(service_seal_both_ways, 0, "", "a message that goes the other way has the same key")                             \
    _(service_seal_any_life, 0, "", "a message to a predecessor has the same key")                                     \
    _(files_start_refusal_ignored, 0, "", "the job begins at a set of files that a rank cannot read")                  \
    _(files_start_answer_unawaited, 0, "", "the job begins at a set of files before all ranks have answered")          \
    _(view_start_decided, 0, "", "a death while the job begins from files is decided")                                 \
    _(files_start_death_unseen, 0, "", "a death while the job begins from files does not end the job")                 \
    _(rollback_begun_at_start, 0, "", "a restart from files does not know at which gsync it is")                       \
    _(coordinated_loaded_early, 0, "", "a restart from files counts as one from the image before")                     \
    _(service_seal_hello_bare, 0, "", "the sum of a greeting leaves its data out")

/* order of a store to shared memory relative to earlier stores (peer/store.h) */
typedef enum {
    KEEL_STORED_PLAIN,   /* order of the processor */
    KEEL_STORED_RELEASE, /* after all earlier stores */
    KEEL_STORED_STREAMED /* past the caches: in any order, until an order or a fence */
} keel_stored_t;

#ifdef KEEL_PLANTED_DEFECTS
#define KEEL_PLANT_NAME(_name, _runs, _options, _what) KEEL_PLANT_##_name,
typedef enum { KEEL_PLANT_NONE, KEEL_PLANTS(KEEL_PLANT_NAME) KEEL_PLANT_LAST } keel_plant_t;
#undef KEEL_PLANT_NAME
extern keel_plant_t keel_planted; /* owned by the test */
/* Moments at which the simulator may kill the process between two stores; STORES, of which there
 * are many, only on a test's request. */
extern void (*keel_planted_moment)(void);
extern void (*keel_planted_stores)(void);
/* The simulator may hold back the next store at @a to. Stores before an order become visible
 * before stores after it; likewise for a barrier, except streamed stores. A fence makes all
 * earlier stores visible. */
typedef struct keel_planted_memory {
    void (*hold)(void *to, size_t length, keel_stored_t how);
    void (*order)(void);
    void (*barrier)(void);
    void (*fence)(void);
} keel_planted_memory_t;
extern keel_planted_memory_t keel_planted_memory;
#define KEEL_MOMENT()                 keel_planted_moment()
#define KEEL_STORES()                 keel_planted_stores()
#define KEEL_HOLD(_to, _length, _how) keel_planted_memory.hold(_to, _length, _how)
#define KEEL_STORE_ORDER()            keel_planted_memory.order()
#define KEEL_STORE_BARRIER()          keel_planted_memory.barrier()
#define KEEL_STORE_FENCE()            keel_planted_memory.fence()
#define KEEL_PLANT(_name)             (__builtin_expect(keel_planted == KEEL_PLANT_##_name, 0))
#define KEEL_PLANT_CALL(_name, ...)   (KEEL_PLANT(_name) ? keel_planted_##_name(__VA_ARGS__) : (void)0)
#else
#define KEEL_PLANT(_name)             0
#define KEEL_PLANT_CALL(_name, ...)   ((void)0)
#define KEEL_MOMENT()                 ((void)0)
#define KEEL_STORES()                 ((void)0)
#define KEEL_HOLD(_to, _length, _how) ((void)0)
#define KEEL_STORE_ORDER()            ((void)0)
#define KEEL_STORE_BARRIER()          ((void)0)
#define KEEL_STORE_FENCE()            ((void)0)
#endif

#endif
