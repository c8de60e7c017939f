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
      "an applied record is applied again when it arrives again")                                                      \
    _(hand_over_reordered, 600, "", "the first record of a phase is handed over last")                                 \
    _(hand_over_skipped, 600, "", "a replacement receives arrivals without the records before them")                   \
    _(hand_over_arrival_first, 2000, "", "an arrival is announced before the records that precede it")                 \
    _(position_hand_over_unawaited, 4000, "--seed 1230",                                                               \
      "a replacement at the front continues before all ranks have handed over")                                        \
    _(position_leave_without_behind, 4000, "",                                                                         \
      "a recovering rank leaves a gsync without the arrivals of ranks behind it")                                      \
    _(recovery_momentary_position, 8000, "--ranks 3 --phases 3 --seed 6900",                                           \
      "a survivor reports its momentary position instead of the front")                                                \
    _(get_live, 2000, "--seed 171", "a get with a record is issued again at the same position")                        \
    _(get_fast_in_replay, 4000, "--lanes direct --direct ptr",                                                         \
      "a get takes the fast path although a record answers the get")                                                   \
    _(atomic_stored_unpushed, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr",                              \
      "an atomic is marked done before its fetched value has a record (program without waits)")                        \
    _(view_lane_changed_local, 8000, "--moves 1 --atomics 1 --deaths 1 --seed 390",                                    \
      "a replacement on another lane counts as knowing the atomics that its predecessor completed")                    \
    _(atomic_stored_counted_again, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr",                         \
      "a replacement repeats completed atomics (program without waits)")                                               \
    _(put_record_again_before_atomic, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr --seed 1020",          \
      "a replacement repeats puts that precede a completed atomic (program without waits)")                            \
    _(hand_over_without_atomics, 4000, "--atomics 1 --deaths 1 --lanes direct --direct ptr",                           \
      "a record of many atomics is not handed over on mapped memory")                                                  \
    _(apply_change_again, 4000, "--style races --posted 1 --lanes direct --direct ptr",                                \
      "an atomic with a known change is applied again")                                                                \
    _(atomic_stored_change_passed_over, 8000,                                                                          \
      "--style races --posted 1 --lanes direct --direct ptr --ranks 3 --phases 2 --deaths 2 --seed 22800",             \
      "an atomic that was completed before its source died counts as a known change")                                  \
    _(view_change_unfetched, 0, "", "a rank that changed a word by the word's value does not count as fetching")       \
    _(decide_change_unhanded, 12000,                                                                                   \
      "--style races --posted 1 --lanes direct --direct ptr --ranks 3 --phases 2 --deaths 2",                          \
      "a change counts as known although its source has not handed it over")                                           \
    _(fetch_own_change_early, 12000,                                                                                   \
      "--style waits --atomics 1 --posted 7 --lanes direct --direct ptr --ranks 4 --phases 3",                         \
      "a replacement changes own memory before the changes of other ranks are there")                                  \
    _(wait_over_by_some, 0, "", "a wait ends although only some of the changes of the word are there")                 \
    _(view_half_done_local, 4000, "--style waits --atomics 1 --posted 1 --lanes direct --direct ptr",                  \
      "an atomic that was under way at the death of its source counts as not applied")                                 \
    _(atomic_stored_again, 2000, "--style waits --atomics 1 --posted 1 --lanes direct --direct ptr",                   \
      "a replacement repeats completed atomics (program with waits)")                                                  \
    _(waits_fetch_unjoined, 2000, "--style waits --atomics 1 --posted 3 --ranks 4 --phases 3",                         \
      "a fetch does not raise the rank's clock beyond the clock found with the value")                                 \
    _(determinant_fetch_unreplayed, 2000, "--style waits --atomics 1 --posted 3 --ranks 4 --phases 3",                 \
      "a replacement continues after a fetch without the puts under the value's clock")                                \
    _(fetch_unpushed, 2000, "--style waits --atomics 1 --posted 3 --lanes direct --direct ptr",                        \
      "an atomic is announced as done before its fetched value has a record")                                          \
    _(waits_own_clock_missing, 2000, "--style waits --atomics 1 --posted 3 --ranks 4 --phases 3",                      \
      "a rank's own clock is not among the clocks found at its memory")                                                \
    _(decide_awaited_local, 4000,                                                                                      \
      "--style waits --atomics 1 --posted 3 --lanes served --ranks 3 --phases 3 --deaths 1",                           \
      "a value awaited from the dead rank does not refuse local recovery")                                             \
    _(pending_fetch_first, 0, "", "a reissued fetch may precede answered fetches of other ranks")                      \
    _(pending_fetch_without_piggyback, 0, "", "values that were not piggybacked do not refuse local recovery")         \
    _(piggyback_left_out, 0, "", "a reply does not piggyback the values that other ranks found at the word")           \
    _(pending_fetch_piggyback_unused, 0, "", "a piggybacked value is not given to the rank that awaits the value")     \
    _(piggyback_confirmed_early, 0, "", "a value counts as received when it is requested")                             \
    _(determinants_result_unstable, 2000, "--style waits --atomics 1 --posted 5 --ranks 4 --phases 3",                 \
      "a determinant is made stable after the program has acted on the determinant")                                   \
    _(determinant_unflushed, 1000,                                                                                     \
      "--style waits --atomics 1 --posted 5 --lanes served --ranks 4 --phases 3 --deaths 1 --seed 700",                \
      "a determinant is still in flight when the program acts on the determinant")                                     \
    _(words_unreplayed, 2000, "--style waits --atomics 1 --posted 5 --ranks 4 --phases 3",                             \
      "a replacement repeats a determinant without the puts under its clock")                                          \
    _(words_from_memory, 1000, "--style waits --atomics 1 --posted 5 --ranks 4 --phases 3",                            \
      "a replacement answers from its memory instead of its predecessor's determinants")                               \
    _(words_unrejoined, 0, "", "a repeated result does not raise the replacement's clock beyond the result's clock")   \
    _(fetch_unrejoined, 0, "", "a value fetched by the predecessor does not raise the replacement's clock")            \
    _(poll_unrejoined, 0, "", "a value polled by the predecessor does not raise the replacement's clock")              \
    _(fetch_own_unrejoined, 0, "", "a repeated fetch from own memory does not raise the replacement's clock")          \
    _(completion_look_unrecorded, 2000, "--style waits --atomics 1 --posted 8 --lanes served --ranks 4 --phases 3",    \
      "a test that finds a request in progress has no record")                                                         \
    _(completion_get_ungiven, 2000, "--style waits --atomics 1 --posted 8 --lanes served --ranks 4 --phases 3",        \
      "a get returns a request only if the get is still in progress")                                                  \
    _(words_repeated, 0, "", "a result counts as a repetition of the last one although a put came meanwhile")          \
    _(determinant_behind_get, 0, "", "a determinant is complete before a get whose record precedes it")                \
    _(determinants_moved, 0, "", "the next determinant goes to another rank while the last one is unstable")           \
    _(view_ahead_determinants, 0, "", "the determinants of a rank that left a gsync first are not looked up")          \
    _(fetch_own_late, 0, "", "a repeated fetch from own memory takes place after puts that overwrite the word")        \
    _(fetch_own_unopened, 3000,                                                                                        \
      "--stores x86 --style waits --atomics 1 --posted 4 --lanes direct --direct ptr --ranks 3 --phases 3 --deaths 1", \
      "a fetch from own memory is visible before another rank knows that a record follows")                            \
    _(view_own_open_local, 3000,                                                                                       \
      "--stores x86 --style waits --atomics 1 --posted 4 --lanes direct --direct ptr --ranks 3 --phases 3 --deaths 1", \
      "a fetch from own memory whose record may be missing does not refuse local recovery")                            \
    _(sync_swaps_in_waits, 2000, "--style waits --atomics 1 --posted 2 --ranks 5 --phases 3",                          \
      "atomics that do not commute do not refuse local recovery, in a program that waits")                             \
    _(put_signal_unfenced, 200, "--style waits --direct rma --lanes direct --phases 1 --ranks 6 --seed 500",           \
      "a signal by an operation passes the puts before it")                                                            \
    _(put_record_before_get_records, 4000, "--ranks 3 --lanes direct --direct ptr",                                    \
      "a put may overwrite values read before their records are there")                                                \
    _(combine_lock_untouched, 0, "", "a single atomic does not mark its block for accumulates")                        \
    _(combine_lock_settled_early, 0, "", "a block counts as settled although a rank accumulates there")                \
    _(combine_lock_shared, 0, "", "two ranks accumulate at once")                                                      \
    _(combine_lock_of_dead, 0, "", "a dead rank keeps the area of accumulates")                                        \
    _(get_reference_unresolved, 0, "", "the data of a get are lost with their target")                                 \
    _(flush_without_get_records, 2000, "", "an arrival is announced before the get records are there")                 \
    _(determinant_new_get_alone, 0, "",                                                                                \
      "a replacement that reads beyond its predecessor's death does not take the remaining puts")                      \
    _(context_news_ignored, 0, "", "calls that complete at once do not look for news")                                 \
    _(ordering_fence_open, 2000, "--wide 1", "a fence does not wait for pending gets")                                 \
    _(position_no_refill, 4000, "", "a replacement's get log is not refilled by its sources")                          \
    _(position_refill_last, 4000, "", "a replacement's get log is refilled after records over the values read")        \
    _(win_memory_initial_lost, 0, "", "a rollback to the start leaves zeros instead of the first contents of windows") \
    _(win_attach_again, 0, "", "newly attached memory keeps its contents instead of the image's")                      \
    _(win_attached_since, 0, "", "a rollback does not detach memory that was attached after the image was taken")      \
    _(admit_message_unmixed, 0, "", "accesses by message, which no log contains, allow local recovery")                \
    _(put_log_trim_too_far, 600, "", "a trim drops one phase more than the image covers")                              \
    _(rebuild_unfinished, 2000, "--looks 1 --seed 430",                                                                \
      "an image counts as rebuilt although another decision cut the rebuild short")                                    \
    _(image_torn, 600, "", "the second half of a part is not copied")                                                  \
    _(stop_early, 2000, "--style locks --points 400 --ranks 3",                                                        \
      "a replacement joins a stop before it has re-executed its predecessor's acts")                                   \
    _(decide_stop_local, 2000, "--style locks --points 400 --ranks 3",                                                 \
      "a death during a stop is recovered locally although no rank knows where the dead rank joined")                  \
    _(stop_forgotten, 0, "", "the leader's replacement does not repeat the stop in which other ranks wait")            \
    _(arrival_receive_stop_ends_phase, 400,                                                                            \
      "--style locks --points 400 --ranks 3 --lanes served --deaths 1 --parities 2",                                   \
      "an arrival at a stop ends the digest of the sender's phase")                                                    \
    _(gsync_stop_unsafe, 2000, "--style locks --points 400 --ranks 3 --gsyncs 200",                                    \
      "the image of a stop includes a rank inside a call that is no safe point")                                       \
    _(restore_stop_unresumed, 2000, "--style locks --points 400 --ranks 3 --gsyncs 200",                               \
      "a gsync interrupted by a stop counts as passed in the image")                                                   \
    _(log_pressure_puts_alone, 0, "", "only the put log is examined before logs are full")                             \
    _(gsync_no_second_barrier, 2000, "", "a rank continues while other ranks copy their images")                       \
    _(coordinated_commit_in_group, 4000, "--ranks 8 --atomics 0 --seed 135",                                           \
      "a generation comes into use once the own group has it")                                                         \
    _(adopt_no_abort, 4000, "", "a death does not abort the unfinished generation")                                    \
    _(gsync_arrive_frozen, 0, "--ranks 3 --lanes direct --direct ptr --dedicated 0 --parities 1",                      \
      "an arrival is announced between a death and its decision")                                                      \
    _(position_leave_frozen, 0, "", "a gsync is passed between a death and its decision: dead arrivals do not count")  \
    _(position_dead_arrivals, 2000, "", "arrivals of dead incarnations count")                                         \
    _(adopt_other_vector, 4000, "", "a decision for another view is adopted")                                          \
    _(view_leader_fixed, 600, "--leader 1", "reports go to rank 0 although another rank leads")                        \
    _(members_gone_awaited, 0, "", "gsyncs and barriers wait for gone ranks")                                          \
    _(peer_leader_kept, 0, "", "a gone rank keeps the lead")                                                           \
    _(view_early_report_refused, 0, "", "a report that arrives before the news that its receiver leads is dropped")    \
    _(shrink_order_anew, 0, "", "the order of the gone is that of their numbers")                                      \
    _(adopt_own_position, 0, "", "without images each rank goes on from its own position")                             \
    _(adopt_gone_announces, 0, "", "a replacement awaits the announcement of a gone rank's image")                     \
    _(group_loss_at_once, 0, "", "groups lose the newly gone ranks at once, not one after another")                    \
    _(image_set_share_kept, 0, "", "a share of the set in use is computed over the images of other groups")            \
    _(recover_late_joiner, 0, "", "a process of a gone rank is let in")                                                \
    _(sections_lock_of_gone_kept, 0, "", "a lock of a gone rank stays taken")                                          \
    _(sections_image_of_gone, 0, "", "a lock of a gone rank is taken again as in the image")                           \
    _(win_lock_image_of_gone, 0, "", "a window lock of a gone rank is taken again as in the image")                    \
    _(gsync_leader_fixed, 600, "--leader 1", "rank 0's arrival carries the orders although another rank leads")        \
    _(view_decides_on_any, 2000, "", "the leader decides on reports of other views")                                   \
    _(view_front_left_out, 6000, "--ranks 3 --seed 700", "a report omits the front that was accepted before")          \
    _(view_rolling_left_out, 4000, "", "a report omits a rollback in progress")                                        \
    _(recover_late_control, 4000, "", "control messages of dead incarnations are accepted")                            \
    _(served_late, 6000, "--lanes served --seed 4100", "data of dead incarnations is applied")                         \
    _(served_old_rollback_number, 0, "", "data from before a rollback is applied: the drain leaves none")              \
    _(rollback_no_drain, 4000, "", "a rollback restores memory while accesses are in flight")                          \
    _(rollback_no_barrier, 4000, "", "a rank continues while other ranks are not restored")                            \
    _(decide_front_atomics_local, 6000, "--seed 1550", "atomics of the front phase do not refuse local recovery")      \
    _(decide_unhanded_local, 0, "--atomics 1 --deaths 2 --ranks 3 --soft 16 --lanes auto --direct ptr",                \
      "an incomplete hand-over from the dead rank to a replacement does not refuse local recovery")                    \
    _(wait_first_amid_replay, 0, "--style waits --ranks 3", "ranks begin to wait while a replacement re-executes")     \
    _(mix_unannounced, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                      \
      "a rank does not announce that it begins to mix ways to synchronise")                                            \
    _(mix_amid_replay, 0, "--style mixed --undeclared 1", "a rank begins to mix while a replacement re-executes")      \
    _(sync_mixed_local, 2000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                     \
      "mixing does not refuse local recovery")                                                                         \
    _(gsync_sections_incomplete, 2000, "--style locks --gsyncs 300 --atomics 0",                                       \
      "a replacement passes a gsync before other ranks' earlier sections are replayed")                                \
    _(demand_uncounted, 2000, "--style locks --gsyncs 500 --atomics 0 --deaths 1",                                     \
      "a demand image lacks the number of critical sections that the rank had seen")                                   \
    _(fetch_own_early, 2000, "--style waits --atomics 1 --posted 4 --lanes direct --direct ptr --ranks 4 --seed 4000", \
      "a replacement's fetch from own memory finds later effects of other ranks")                                      \
    _(put_clockless, 2000,                                                                                             \
      "--style waits --atomics 1 --posted 0 --lanes direct --direct ptr --ranks 4 --seed 56805767900",                 \
      "a put on the fast path after a wait is logged with the old clock")                                              \
    _(determinant_read_unstable, 2000, "--style waits --atomics 0 --lanes direct --direct ptr",                        \
      "a value read is recorded after the program has acted on the value")                                             \
    _(get_read_elsewhere, 2000,                                                                                        \
      "--style waits --atomics 0 --lanes direct --direct ptr --ranks 4 --phases 3 --seed 1000",                        \
      "a value read has no record although a value read later at another rank has one")                                \
    _(determinants_poll_unstable, 2000, "--style waits --atomics 1 --posted 6 --seed 620",                             \
      "a polled value is not recorded at its target")                                                                  \
    _(poll_unjoined, 2000, "--style waits --atomics 1 --posted 6 --seed 1170",                                         \
      "a poll does not raise the rank's clock beyond the clock found")                                                 \
    _(poll_unreplayed, 2000, "--style waits --atomics 1 --posted 6",                                                   \
      "a replacement polls without the puts under the clock found")                                                    \
    _(poll_repeated, 2000, "--style waits --atomics 1 --posted 6 --seed 310",                                          \
      "a poll counts as a repetition of the last one although a put came meanwhile")                                   \
    _(view_open_put_fetched, 0, "--style waits --atomics 1 --posted 3 --direct ptr",                                   \
      "a put under way at the death of its source is not in doubt although a rank may have fetched part of it")        \
    _(put_log_off_unphased, 0, "",                                                                                     \
      "records for a replacement in a log that is off are not found by phase and count as no loss")                    \
    _(sync_unlogged_left_out, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                               \
      "a rank with unlogged accesses does not mix")                                                                    \
    _(elements_accumulate_overtakes, 4000, "--style mixed --lanes served",                                             \
      "an accumulate with a result overtakes earlier puts")                                                            \
    _(put_signal_first, 2000, "--style mixed", "a signal arrives before the data that it announces")                   \
    _(winlock_word_taken, 2000, "--style mixed", "the lock of a window is granted to every request")                   \
    _(win_lock_revoke_unawaited, 0, "", "an exclusive lock does not wait for ranks with biased shared locks")          \
    _(win_share_unseen, 0, "", "a biased shared lock is not turned into a visible one")                                \
    _(win_lock_image_unrevoked, 0, "", "an image does not record that biased locks are revoked")                       \
    _(region_of_new_group, 0, "", "images are not announced to ranks that join the group")                             \
    _(region_image_unannounced, 600, "", "a replacement does not learn of its group's images")                         \
    _(gathers_early, 4000, "--style mixed", "the root of a gather does not wait for the last contribution")            \
    _(collective_early, 2000, "--style mixed", "a group's barrier does not wait in its last round")                    \
    _(mix_bare_unannounced, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                 \
      "a rank does not announce its accesses without locks")                                                           \
    _(sync_bare_local, 8000, "--style mixed --undeclared 1 --ranks 3 --deaths 1",                                      \
      "accesses of other ranks without locks do not refuse local recovery")                                            \
    _(win_extents_kept, 600, "--extents 1",                                                                            \
      "an image is restored into the present extents instead of those of the image")                                   \
    _(image_parts_moved, 600, "--extents 1", "an extent is saved from the beginning of its window")                    \
    _(image_content_locks_forgotten, 1000, "--style mixed",                                                            \
      "a lock held when the image was taken is not held after the restore")                                            \
    _(lock_number_missed, 0, "", "a lock number without room in the log is not announced as lost")                     \
    _(get_log_loss_unannounced, 8000, "--style locks",                                                                 \
      "a full get log does not announce the loss to targets whose records were not pushed")                            \
    _(get_log_replay_loss_last, 0, "",                                                                                 \
      "a replacement learns of a get log's loss after the puts that overwrite the values read")                        \
    _(announce_skipped, 0, "--style waits --atomics 1 --posted 3 --lanes direct --direct ptr --ranks 4 --phases 3",    \
      "a rank does not announce its usage to a rank that it accesses")                                                 \
    _(arrival_without_usage, 600, "--style races --ranks 3", "an arrival omits its sender's usage")                    \
    _(get_own_copied, 0, "", "a get from own memory is a copy, without a determinant")                                 \
    _(get_own_raced, 0, "", "a replacement before its first wait looks for ever for a put of the same phase")          \
    _(announced_not_passed_on, 0, "--style races --ranks 4 --deaths 2 --phases 3",                                     \
      "the first rank to leave a gsync does not announce the usage known there to its targets")                        \
    _(access_found_unjoined, 8000, "--style races --ranks 3 --deaths 2",                                               \
      "a fetch does not learn of the target's accesses to its own memory")                                             \
    _(decide_fetched_from_lost, 8000, "--style races --ranks 4 --deaths 2 --phases 3",                                 \
      "values fetched from one of several lost ranks do not refuse local recovery")                                    \
    _(position_fetched_incomplete, 12000, "--style races --ranks 3 --lanes direct --direct ptr --seed 776",            \
      "a value is fetched from a replacement during the hand-over of other ranks")                                     \
    _(position_mixed_incomplete, 8000, "--style races --ranks 3 --phases 2 --seed 121800",                             \
      "an atomic that does not commute is applied at a replacement during the hand-over of other ranks")               \
    _(view_first_left_out, 4000, "--style races --ranks 2 --phases 1 --lanes direct --direct ptr",                     \
      "a rank without accesses does not report the atomics of a dead rank")                                            \
    _(decide_races_local, 8000, "--style races --hunt awaited --lanes served --ranks 4 --phases 3 --seed 800",         \
      "values from races do not refuse local recovery")                                                                \
    _(usage_sets_commute, 8000, "--style races --posted 1 --lanes served",                                             \
      "atomics SET of several ranks count as commuting")                                                               \
    _(decide_swaps_local, 4000, "--style races", "racing swaps do not refuse local recovery")                          \
    _(decide_lost_log_local, 6000, "--seed 643", "an incomplete log does not refuse local recovery")                   \
    _(decide_catastrophe_missed, 4000, "", "deaths beyond parity count as recoverable")                                \
    _(lock_claim_unfair, 0, "", "a rank takes a lock ahead of ranks that wait for it")                                 \
    _(lock_claim_kept, 0, "", "ranks leave a lock to a dead rank that waited for it")                                  \
    _(view_lock_released, 2000, "--style locks", "a dead owner's lock is released instead of inherited")               \
    _(sections_unsorted, 2000, "--style locks", "critical sections are replayed in the order of receipt")              \
    _(lock_replay_own_section_first, 2000, "--style locks", "an own section does not wait for earlier sections")       \
    _(replay_section_reordered, 2000, "--style locks", "the first put of a critical section is replayed last")         \
    _(replay_first_dropped, 2000, "--style locks", "the first critical section sent is not replayed")                  \
    _(put_log_record_alone, 0, "--style locks --wide 1", "the limit of a record ignores the head of the message")      \
    _(lock_replay_caught_up_in_past, 600, "--style locks",                                                             \
      "a replacement is caught up inside a section that was over in the first life")                                   \
    _(lock_replay_caught_up_in_section, 8000, "--style locks --ranks 3 --phases 2 --seed 1400",                        \
      "a rank is caught up inside an own section whose end other ranks saw")                                           \
    _(sections_caught_up_early, 0, "--style locks", "locks that the predecessor left do not delay catching up")        \
    _(sections_open_sent, 4000, "--style locks --atomics 1 --seed 514", "an open section is replayed with the others") \
    _(lockword_reader_unseen, 4000, "--style locks", "a writer ignores readers")                                       \
    _(lockword_reader_unjoined, 4000, "--style locks", "a reader does not join the readers that writers look at")      \
    _(view_request_unnamed, 4000, "", "the leader decides on reports from before a request for a rollback")            \
    _(rollback_request_not_passed_on, 4000, "", "the leader does not pass on a request for a rollback")                \
    _(get_log_replay_no_room, 0, "", "no harm: a replacement has no room for the records, and the job rolls back")     \
    _(get_log_record_differs, 0, "", "no harm: a replacement's get differs from the record, and the job rolls back")   \
    _(detect_silence_forgotten, 600, "--hangs 1", "a broken connection resets the neighbour's silence")                \
    _(detect_repeats_uncounted, 0, "", "each accusation of a silence is reported as the first")                        \
    _(detect_repeats_kept, 0, "", "an accusation is reported as a repetition although an answer came between")         \
    _(leave_exit_awaited, 600, "--splits 1",                                                                           \
      "a leaving rank waits for news of a broken connection from a launcher that sends none")                          \
    _(wait_early, 600, "--style waits", "a wait ends before its condition holds")                                      \
    _(sync_first_wait_local, 2000, "--style waits --phases 1 --dedicated 0 --ranks 3 --lanes direct --direct ptr",     \
      "waits unknown to some ranks do not refuse local recovery")                                                      \
    _(waits_unsorted, 2000, "--style waits", "puts of other ranks are replayed in the order of receipt")               \
    _(wait_replays_at_once, 2000, "--style waits", "the first wait replays all puts of other ranks")                   \
    _(waits_alone, 2000, "--style waits", "a wait does not raise the rank's clock beyond other ranks' clocks")         \
    _(put_record_again, 2000, "--style waits --lanes direct --direct ptr --ranks 4 --phases 3",                        \
      "a replacement repeats the puts of its predecessor")                                                             \
    _(position_flush_undecided, 4000, "--style waits --lanes auto --ranks 6 --phases 2 --dedicated 0 --seed 9000720",  \
      "a flush ends although its target is dead and not all ranks know")                                               \
    _(waits_ahead_left_out, 0, "--style waits --ranks 3 --phases 2 --deaths 3 --seed 4200",                            \
      "a report omits that a dead rank was ahead of all")                                                              \
    _(wait_open_unawaited, 4000,                                                                                       \
      "--style waits --lanes direct --direct ptr --atomics 0 --ranks 4 --phases 3 --seed 825",                         \
      "a wait ends while a put of another rank is under way")                                                          \
    _(access_source_unjoined, 4000, "--style waits --lanes direct --direct ptr --atomics 0 --ranks 4 --phases 3",      \
      "a source does not join the sources that waits look at")                                                         \
    _(wait_open_any, 0, "", "a wait ends once no put is under way, not once the first are closed")                     \
    _(hand_over_cut_late, 0, "--style waits",                                                                          \
      "puts after the decision are replayed before all remaining records are there")                                   \
    _(waits_rest_unawaited, 4000, "--style waits", "a replacement continues without the remaining puts")               \
    _(put_record_amid_rest, 4000, "--style waits",                                                                     \
      "other ranks put to a replacement before the remaining puts are replayed")                                       \
    _(trim_demand_too_far, 4000, "--soft 1", "a trim drops one phase more than the demand image covers")               \
    _(trim_own_by_demand, 4000, "--soft 1",                                                                            \
      "a demand image trims the own put log, which only images of other ranks cover")                                  \
    _(demand_unshared, 4000, "--soft 1", "a demand image comes into use before the group has its parity")              \
    _(exchange_over_generation, 2000, "--soft 1",                                                                      \
      "a demand image overwrites the generation's image, which a rollback needs")                                      \
    _(waits_rest_uncounted, 0, "", "remaining puts that a replacement has replayed do not count as done")              \
    _(hand_over_check_unread, 0, "", "a replacement does not compare its acts with the records of others")             \
    _(gsync_first_uncopied, 0, "", "ranks do not wait while the leader copies its image because of a full log")        \
    _(demand_image_unawaited, 0, "", "a rank arrives before its group has received its demand image")                  \
    _(repair_known_to_dead, 0, "", "an image known to a dead member counts as known to its replacement")               \
    _(view_off_log_complete, 0, "", "a log that is off does not count as lost, and puts to the dead rank do not wait") \
    _(rebuild_decision_unseen, 4000,                                                                                   \
      "--hunt rebuild --ranks 5 --phases 6 --atomics 0 --dedicated 0 --parities 2 --seed 290",                         \
      "the rebuild of an image continues although a death and its decision came in one step")                          \
    _(decide_front_below_base, 0, "", "the front stays before a gsync that a dead rank has left")                      \
    _(position_refill_unannounced, 0, "",                                                                              \
      "a rank that refills a replacement's get log announces its fetches only at the hand-over")                       \
    _(arrival_stored_first, 0, "", "an arrival is stored on the board before the words that it vouches for")           \
    _(put_record_unopened, 0, "", "a put is stored without an open number")                                            \
    _(lock_doubt_cleared, 0, "", "a section's atomics are no longer in doubt although the lock is still held")         \
    _(decide_starts_differ, 4000, "--soft 1 --seed 217", "ranks that begin at different positions recover together")   \
    _(control_pieces_mixed, 0, "--message 256", "segments of a report are taken for those of an older one")            \
    _(lockword_unbounded, 0, "", "a lock is taken again after its last number")                                        \
    _(put_log_numbers_again, 0, "", "records after the last number of a phase have number 0")                          \
    _(put_record_last_clock_logged, 0, "", "a put under the last clock of a phase counts as logged")                   \
    _(put_log_epoch_wasted, 0, "", "an epoch without a record is closed")                                              \
    _(epochs_unbounded, 0, "", "records may be older than half of all epochs")                                         \
    _(get_log_chunks_by_number, 600, "--late-counters 1",                                                              \
      "the chunks of a get log are ordered by their numbers, which wrap")                                              \
    _(put_log_unnumbered_to, 0, "--late-counters 2", "a log with unnumbered records counts as complete")               \
    _(put_log_unnumbered_from, 0, "--late-counters 2", "the source of unnumbered records is recovered locally")        \
    _(flush_unfenced, 0, "", "a flush returns before the puts are visible")                                            \
    _(ordering_fence_unfenced, 4000, "--style waits --ranks 3 --lanes direct --direct ptr --stores arm",               \
      "a put after a fence is visible before a put ahead of the fence")                                                \
    _(put_record_opened_unfenced, 0, "", "a put is visible before its open number")                                    \
    _(store_unfenced, 600, "--style locks --ranks 3 --lanes direct --direct ptr --stores x86",                         \
      "a rank looks at other ranks' lock words before its own stored word is visible")                                 \
    _(store_release_relaxed, 1000, "--ranks 3 --lanes direct --direct ptr --stores arm",                               \
      "a flag word is visible before the data that it announces")                                                      \
    _(put_send_redone, 0, "--direct rma --lanes direct",                                                               \
      "a replacement repeats its predecessor's puts by operations instead of messages that the target skips")          \
    _(remote_put_passes, 2000, "--direct rma --lanes direct --ranks 3 --seed 1080",                                    \
      "a put or get passes requests that the target has not applied")                                                  \
    _(issue_put_unannounced, 600, "--direct rma --lanes direct --ranks 3 --atomics 1",                                 \
      "a record after puts does not announce the puts")                                                                \
    _(remote_put_unfenced, 1000, "--direct rma --lanes direct --ranks 3 --wide 1", "puts by operations pass a fence")  \
    _(remote_put_record_unfenced, 1000, "--direct rma --lanes direct --ranks 3",                                       \
      "the record of a get reaches the target before the fetched data is in the record")                               \
    _(remote_put_claim_unfenced, 1000, "--direct rma --lanes direct --ranks 3",                                        \
      "the announcement of a get record may pass the record")                                                          \
    _(put_send_before_record, 1000, "--direct rma --lanes direct --ranks 3",                                           \
      "a put by an operation may overwrite values read before their records are there")                                \
    _(peer_put_unawaited, 1000, "--direct rma --lanes direct --ranks 3",                                               \
      "arrivals, drains and reused log segments do not wait for puts by operations")                                   \
    _(peer_disconnect_late, 1000, "--direct rma --lanes direct --ranks 3",                                             \
      "puts of a dead or leaving process land until its replacement connects")                                         \
    _(read_device_unfenced, 2000, "--style mixed --device 1 --direct rma --lanes direct --ranks 3",                    \
      "a device's atomic passes earlier puts")                                                                         \
    _(device_unmixed, 2000, "--style mixed --device 1 --undeclared 1 --direct rma --lanes direct --ranks 3",           \
      "a rank does not announce a device's atomics, which no log has")                                                 \
    _(read_unended, 2000, "--direct read --lanes direct --ranks 4",                                                    \
      "a read of the image of a dying process is awaited for ever")                                                    \
    _(image_get_from_memory, 600, "--looks 1", "a request for an image returns the contents of memory")                \
    _(put_blocks_packed, 600, "--style mixed", "a put of blocks ignores the distance between the blocks")              \
    _(get_blocks_last_missed, 600, "--style mixed", "a get of blocks omits the last block")                            \
    _(served_blocks_last_missed, 600, "--strides 1 --lanes served --atomics 0",                                        \
      "the service side omits the last block of a put of blocks")                                                      \
    _(hand_over_last_part_missed, 600, "--strides 1 --lanes direct --direct ptr --atomics 0 --deaths 1",               \
      "a hand-over omits the last block of a put of blocks")                                                           \
    _(put_record_parts_again, 0, "", "a replacement repeats its predecessor's put of several blocks")                  \
    _(put_record_parts_closed_early, 0, "", "a put of several blocks is marked done too early")                        \
    _(replay_parts_unlooked, 0, "", "the blocks of a put are not searched for the words to replay")                    \
    _(store_part_signal_unordered, 0, "", "a signal is seen before the data that it announces, on mapped memory")      \
    _(get_blocks_first_alone, 600, "--strides 1", "a replacement gets only the first block from the record")           \
    _(get_blocks_live, 0, "", "a replacement gets recorded blocks again, except the first")                            \
    _(once_printed_again, 0, "", "keelrun does not return to the output position of a rank that is rolled back")       \
    _(threads_turn_kept, 0, "", "a waiting call gives no other thread its turn")                                       \
    _(threads_restored_early, 0, "", "keel_restore() does not wait until other threads' calls have ended")             \
    _(context_rollback_unended, 0, "", "a rollback does not end the waits of several threads")                         \
    _(gsync_unbounded, 0, "", "gsyncs go on after the last number")                                                    \
    _(determinants_kept_over_rollback, 300,                                                                            \
      "--style waits --atomics 1 --posted 5 --direct ptr --ranks 3 --phases 2 --deaths 3 --parities 2 --seed 170",     \
      "determinants from before a rollback to the same phase are kept")                                                \
    _(arrival_lost_gets_left_out, 1000, "--tight 1 --ranks 3 --deaths 3 --lanes direct --direct ptr",                  \
      "an arrival by stores does not announce that gets lack records")                                                 \
    _(usage_doubt_left_out, 0, "",                                                                                     \
      "an arrival by message does not announce that its sender's fetches from own memory are in doubt")                \
    _(usage_waits_left_out, 0, "", "an arrival by message does not announce that its sender waits")                    \
    _(words_asked_otherwise, 200, "--harsh --style waits --atomics 1 --posted 5 --direct ptr --ranks 3 --phases 2",    \
      "a determinant is repeated for a different question about the same words")                                       \
    _(win_attach_start_detached, 0, "", "a detach after the start removes memory from the attachments of the start")   \
    _(completion_tested_alone, 0, "", "a test completes a replacement's new get without the remaining puts")           \
    _(determinant_holder_unannounced, 0, "",                                                                           \
      "the holder of determinants does not know that the log was off for some of them")                                \
    _(arrival_receive_lost_gets_taken_back, 100, "--harsh --tight 1 --ranks 3 --lanes served",                         \
      "an older arrival withdraws the announcement that gets lack records")                                            \
    _(sections_release_kept, 0, "", "a lock released to a dead rank is released again after a rollback")               \
    _(waits_rest_clockless, 0, "", "a replacement's clock stays below that of the remaining puts")                     \
    _(waits_atomics_unnoted, 0, "", "atomics that a replacement replays into waits do not count as issued")            \
    _(announced_waits_not_passed_on, 0, "", "a rank does not pass on that another rank waits")                         \
    _(view_record_unbegun, 0, "", "a determinant known only by its record does not count as a beginning")              \
    _(service_seal_unchecked, 0, "", "a message is accepted whatever its sum")                                         \
    _(service_seal_repeated, 0, "", "a message is accepted twice")                                                     \
    _(service_seal_both_ways, 0, "", "a message of the opposite direction has the same key")                           \
    _(service_seal_any_life, 0, "", "a message to a predecessor has the same key")                                     \
    _(files_start_refusal_ignored, 0, "", "the job begins at a set of files that a rank cannot read")                  \
    _(files_start_answer_unawaited, 0, "", "the job begins at a set of files before all ranks have replied")           \
    _(view_start_decided, 0, "", "a death during the start from files is decided")                                     \
    _(files_start_death_unseen, 0, "", "a death during the start from files does not end the job")                     \
    _(rollback_begun_at_start, 0, "", "a restart from files does not know its gsync")                                  \
    _(files_ask_met_by_same, 0, "", "a request is met by the generation that had begun when it was seen")              \
    _(files_set_order_unnoted, 0, "",                                                                                  \
      "a checkpoint that is ordered, and has not begun at rank 0, meets a request of that time")                       \
    _(files_set_order_once, 0, "", "a replacement does not get the order to write its file")                           \
    _(files_set_request_unheeded, 0, "", "no checkpoint is taken for a request")                                       \
    _(coordinated_loaded_early, 0, "", "a restart from files counts as a restart from the image before")               \
    _(service_seal_hello_bare, 0, "", "the sum of a greeting omits the greeting's data")                               \
    _(gsync_call_refusal_unseen, 0, "", "ranks go on beside a rank that refuses the arguments of the call")            \
    _(window_saved_late, 0, "", "the bytes of a window that no image has count as image bytes")                        \
    _(store_create_marks_cut, 0, "", "messages need no room for the mark of the longest range")                        \
    _(store_create_window_first, 0, "", "a store without memory keeps its window")                                     \
    _(store_state_load_beside, 0, "", "a load begins beside a submit of another thread")                               \
    _(store_submit_beside_loads, 0, "", "a submit begins beside loads of other threads")                               \
    _(store_create_refill_in_free, 0, "", "a refill goes on while the store is freed")                                 \
    _(store_push_life_kept, 0, "", "a third process of a holder gets the rest of a range alone")                       \
    _(store_update_unrefilled, 0, "", "a holder without the version before gives up ranges that an update keeps")      \
    _(store_submit_unagreed, 0, "", "stores with other parameters at other ranks are not compared")                    \
    _(store_place_domains_ignored, 0, "", "the copies of a block lie at neighbours, whatever their failure domains")   \
    _(store_fetch_unsummed, 0, "", "the bytes of a copy are not compared with their sums")                             \
    _(store_fetch_any_label, 0, "", "the bytes of any version count as those of the wanted one")                       \
    _(position_leave_shrinking, 0, "", "a rank passes a gsync behind the front from which all ranks go on")            \
    _(store_next_domains_unchecked, 0, "", "a next holder shares a failure domain with a holder without need")         \
    _(store_fetch_refill_unchecked, 0, "", "a refill takes the cell of a rank that lacks the range")                   \
    _(store_submit_namesake_unasked, 0, "", "submits to stores with the same low digit are not told apart")            \
    _(checksum_share_late, 0, "", "a parity rank passes a submit before its share is complete")                        \
    _(store_refill_never, 0, "", "a replacement gets no copies of its predecessor back")                               \
    _(store_submit_once, 0, "", "a holder that died amid the pushes is not pushed to again")                           \
    _(store_submit_unfilled, 0, "", "a version is committed although a holder lacks ranges")                           \
    _(store_submit_over_kept, 0, "", "a submit overwrites the version of the generation in use")                       \
    _(store_submit_behind, 0, "", "a rank that re-executes an earlier phase pushes old ranges")                        \
    _(store_read_lost_in_replay, 0, "", "a version that was overwritten counts as lost")

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
