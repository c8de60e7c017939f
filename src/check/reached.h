/*
 * Cases of the protocol that a set of simulated runs must cover: each row of the table of positions
 * (protocol/recovery.md), each refusal of local recovery, each catastrophe. Counted only in the
 * simulator's own copy of the layers (check/plant.h); elsewhere KEEL_REACHED() is nothing.
 */
#ifndef KEEL_CHECK_REACHED_H_
#define KEEL_CHECK_REACHED_H_

#define KEEL_CASES(_)                                                                                      \
    _(put_same, "a re-executing process does a put to a rank at its position")                             \
    _(put_ahead, "a re-executing process only logs a put to a rank that is ahead")                         \
    _(put_behind, "a put to a rank that is behind is only logged")                                         \
    _(atomic_ahead, "a re-executing process only logs an atomic to a rank that is ahead")                  \
    _(atomic_behind, "an atomic to a rank that is behind is only logged")                                  \
    _(get_recorded_same, "a get from a rank at the same position is answered from its record")             \
    _(get_recorded_ahead, "a get from a rank that is ahead is answered from its record")                   \
    _(fetched_recorded_same, "a fetch from a rank at the same position is answered from its record")       \
    _(fetched_recorded_ahead, "a fetch from a rank that is ahead is answered from its record")             \
    _(get_done, "a re-executing process does a get without a record")                                      \
    _(get_waits, "a get from a rank that is behind waits")                                                 \
    _(get_fast, "a get takes the fast path of the direct lane")                                            \
    _(get_reference, "the data of a get are recorded at the target alone")                                 \
    _(get_resolved, "the data of a get are copied from the memory of its dead target")                     \
    _(atomic_fast, "an atomic takes the fast path of the direct lane")                                     \
    _(atomic_waits_fast, "an atomic of a program that waits takes the short path")                         \
    _(combine_plain, "an accumulate on mapped memory uses no locked instruction")                          \
    _(flush_fast, "a flush has nothing to wait for")                                                       \
    _(put_cached, "a put of a program that waits takes the short path")                                    \
    _(get_waiting, "a get of a program that waits takes the fast path and is recorded later")              \
    _(read_stable, "reads that had no record yet are recorded at their target")                            \
    _(gsync_handed, "a re-executing process leaves a gsync by arrivals that were handed over")             \
    _(gsync_released, "a survivor is released below the front")                                            \
    _(gsync_awaits_hand_over, "a replacement at the front waits until all have handed over")               \
    _(hand_behind, "a phase is handed over to a rank that is behind")                                      \
    _(hand_front, "two ranks at the front go live to each other")                                          \
    _(hand_pair, "two re-executing ranks go live to each other")                                           \
    _(restored_at_front, "a replacement's image is of the front")                                          \
    _(refuses_nondeterministic, "rollback: the program is not deterministic")                              \
    _(refuses_rolling, "rollback: a rollback was under way")                                               \
    _(refuses_put_log, "rollback: a put log is incomplete")                                                \
    _(refuses_get_log, "rollback: a get log is incomplete")                                                \
    _(refuses_atomics_of_dead, "rollback: the dead rank issued atomics in the front phase")                \
    _(refuses_atomics_of_several, "rollback: one of several dead ranks issued atomics")                    \
    _(refuses_atomics_before, "rollback: several ranks died since one of the dead ranks issued atomics")   \
    _(refuses_kinds, "rollback: atomics that do not commute were logged towards the dead rank")            \
    _(refuses_races, "rollback: values that ranks raced for were fetched from the dead rank")              \
    _(request_program, "rollback: the program requested the rollback")                                     \
    _(request_waits_on_changes, "rollback: a wait is for a word that others swapped")                      \
    _(request_by_report, "the leader learns of a request from the report of another rank first")           \
    _(refuses_waits_several, "rollback: several ranks are lost in a program that waits")                   \
    _(refuses_waits_first, "rollback: the program waits for the first time")                               \
    _(wait_replayed, "a wait of a replacement returns by effects that other ranks logged")                 \
    _(wait_asks_rest, "a wait of a replacement is beyond its predecessor's death")                         \
    _(gsync_asks_rest, "a gsync of a replacement is beyond its predecessor's death")                       \
    _(get_asks_rest, "a get without a record is beyond the death of the predecessor")                      \
    _(put_is_held, "a put waits until a replacement has replayed the rest")                                \
    _(put_was_done, "a put that the predecessor did is only logged")                                       \
    _(put_parts, "a put of several blocks by one call is one record")                                      \
    _(signal_cached, "a put of data and a signal takes the short path")                                    \
    _(parts_were_done, "a put of several blocks that the predecessor did is only logged")                  \
    _(front_of_dead, "the front is a position that only a dead rank had reached")                          \
    _(usage_announced, "a rank announces its usage to a rank that it accesses")                            \
    _(first_wait_waits, "a first wait waits until replacements are back where others died")                \
    _(redone_summed, "a replacement compares the sums of repeated records with those of the targets")      \
    _(redone_counted, "a replacement compares the number of repeated records with that of a target")       \
    _(generation_0, "recovery from the program's start")                                                   \
    _(generation_later, "recovery from a checkpoint")                                                      \
    _(catastrophe_group, "a group lost more members than parity covers")                                   \
    _(catastrophe_unarmed, "a group lost too many members, counting a member without its share of parity") \
    _(rebuild_source_dies, "a member of the group dies while an image is rebuilt from it")                 \
    _(rebuild_dies, "a replacement dies before its memory is rebuilt")                                     \
    _(coordinator_dies, "the leader dies with reports that it has not answered")                           \
    _(catastrophe_all, "no process survived")                                                              \
    _(decided_by_replacement, "the leader's replacement decides")                                          \
    _(decision_for_other_view, "a decision for another view is ignored")                                   \
    _(late_request, "a request of a dead incarnation is ignored")                                          \
    _(committed_by_decision, "a generation is taken into use because the decision names it")               \
    _(demand_image, "a rank takes a demand image because a log is full")                                   \
    _(demand_restored, "recovery from a demand image")                                                     \
    _(demand_by_decision, "a demand image is taken into use because the decision names it")                \
    _(refuses_starts, "rollback: ranks that begin at different positions are lost together")               \
    _(refuses_demand_parity, "rollback: the demand image of a lost rank is beyond parity")                 \
    _(refuses_locks_several, "rollback: several ranks are lost in a program that locks")                   \
    _(refuses_waits_atomics, "rollback: atomics that do not commute, in a program that waits")             \
    _(refuses_waits_fetched, "rollback: values were fetched before all ranks knew that the program waits") \
    _(refuses_awaited, "rollback: values are awaited from the dead rank, in a program that waits")         \
    _(fetch_replays, "a fetch with a record replays the puts before it")                                   \
    _(atomic_was_done, "a replacement only logs an atomic that is done, in a program that waits")          \
    _(section_over, "the accesses of a critical section that was over are only logged")                    \
    _(section_open, "the accesses of a critical section that is open are done again")                      \
    _(section_unrecorded, "a lock without a record is held by the replacement's rank all the same")        \
    _(section_new, "a lock without a record is a new one: the process has caught up")                      \
    _(section_own, "a critical section of own memory is done again in its turn")                           \
    _(reading_over, "the reads of a reading epoch that was over are done again")                           \
    _(reading_open, "the reads of a reading epoch that is open are done again")                            \
    _(lock_left, "a replacement finds its lock held by a survivor")

/* cases reached never or too rarely without a test that draws for them or makes the library fail
 * (check/plant.h): such a test requires them */
#define KEEL_CASES_PLANTED(_)                                                                               \
    _(poll_again_fast, "a poll repeats the last one on the short path")                                     \
    _(awaited_carried, "an awaited value of the dead rank is known from a reply to another rank")           \
    _(awaited_again, "an awaited value is fetched again, behind the fetches of other ranks")                \
    _(put_remote, "a put is an operation of its source alone")                                              \
    _(image_remote, "an image or parity share is read by operations of its reader alone")                   \
    _(get_remote, "a get by operations is recorded at the target by another operation")                     \
    _(get_room_spent, "a get is requested by message, because the room granted for records is used up")     \
    _(request_first_wait, "rollback: ranks begin to wait while a replacement re-executes")                  \
    _(request_mixes, "rollback: a rank mixes ways to synchronise while a replacement re-executes")          \
    _(mix_waits, "the first mixing call waits for ranks that are lost")                                     \
    _(refuses_stop, "rollback: the checkpoint of a stop was not complete")                                  \
    _(stop_joined, "a rank joins a stop at a safe point")                                                   \
    _(stop_interrupts, "a rank joins a stop in a collective call, and repeats the call")                    \
    _(stop_inherited, "the replacement of the leader repeats the stop in which other ranks wait")           \
    _(stop_committed, "the image of a stop is in use when it ends")                                         \
    _(refuses_mixed, "rollback: the program mixes ways to synchronise")                                     \
    _(refuses_bare, "rollback: some ranks lock, and other ranks access without locks")                      \
    _(atomic_same, "a re-executing process does an atomic to a rank at its position")                       \
    _(request_no_room, "rollback: a replacement has no room for the records")                               \
    _(request_differs, "rollback: the re-execution differs from the records")                               \
    _(refuses_unhanded, "rollback: the dead rank had not handed its atomics over to a replacement")         \
    _(answer_recorded, "a replacement repeats a result about own words from its predecessor's record")      \
    _(answer_asks_rest, "a result about own words without a record is beyond the death of the predecessor") \
    _(look_recorded, "a replacement repeats from a record that a request was in progress")                  \
    _(look_waits, "a replacement waits for a request whose looks have no record")                           \
    _(own_fetch_recorded, "a replacement's fetch from its own memory is answered from a record")            \
    _(control_in_pieces, "a control message arrives in several pieces")                                     \
    _(control_cut, "a new control message begins, since the sender of the last one died amid it")

#ifdef KEEL_PLANTED_DEFECTS
#include <stdint.h>

#define KEEL_CASE_NAME(_name, _what) KEEL_CASE_##_name,
enum { KEEL_CASES(KEEL_CASE_NAME) KEEL_CASES_PLANTED(KEEL_CASE_NAME) KEEL_CASE_LAST };
#undef KEEL_CASE_NAME
extern uint64_t *keel_reached; /* a counter for each case; owned by the test */
#define KEEL_REACHED(_name) ((void)__atomic_fetch_add(&keel_reached[KEEL_CASE_##_name], 1, __ATOMIC_RELAXED))
#else
#define KEEL_REACHED(_name) ((void)0)
#endif

#endif
