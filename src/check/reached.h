/*
 * Cases of the protocol that a set of simulated runs must cover: each row of the table of positions
 * (protocol/recovery.md), each refusal of local recovery, each catastrophe. Counted only in the
 * simulator's own copy of the layers (check/plant.h); elsewhere KEEL_REACHED() is nothing.
 */
#ifndef KEEL_CHECK_REACHED_H_
#define KEEL_CHECK_REACHED_H_

#define KEEL_CASES(_)                                                                          \
    _(put_same, "a re-executing process does a put to one at its position")                    \
    _(put_ahead, "... only logs a put to one that is ahead")                                   \
    _(put_behind, "a put to one that is behind is only logged")                                \
    _(atomic_ahead, "... only logs an atomic to one that is ahead")                            \
    _(atomic_behind, "an atomic to one that is behind is only logged")                         \
    _(get_recorded_same, "a get to one at the same position is answered from its record")      \
    _(get_recorded_ahead, "a get to one that is ahead is answered from its record")            \
    _(fetched_recorded_same, "... and what an atomic fetched at one at the same position")     \
    _(fetched_recorded_ahead, "... at one that is ahead")                                      \
    _(get_done, "a re-executing process does a get without a record")                          \
    _(get_waits, "a get to one that is behind waits")                                          \
    _(get_fast, "a get takes the fast path of the direct lane")                                \
    _(atomic_fast, "an atomic does")                                                           \
    _(put_cached, "a put of a program that waits takes the short one")                         \
    _(get_waiting, "and a get, which is recorded later")                                       \
    _(read_settled, "what was read so is recorded where it was read")                          \
    _(gsync_handed, "a re-executing process leaves a gsync by arrivals it was handed")         \
    _(gsync_released, "a survivor is released below the front")                                \
    _(gsync_awaits_hand_over, "a replacement at the front waits until all have handed over")   \
    _(hand_behind, "a phase is handed to one that is behind")                                  \
    _(hand_front, "two at the front go live")                                                  \
    _(hand_pair, "two that re-execute go live among themselves")                               \
    _(restored_at_front, "a replacement's image is of the front")                              \
    _(refuses_nondeterministic, "rollback: the program is not deterministic")                  \
    _(refuses_rolling, "rollback: a rollback was under way")                                   \
    _(refuses_put_log, "rollback: a put log is incomplete")                                    \
    _(refuses_get_log, "rollback: a get log is incomplete")                                    \
    _(refuses_atomics_of_dead, "rollback: the dead rank issued atomics in the front phase")    \
    _(refuses_atomics_of_several, "rollback: one of several dead ranks issued atomics")        \
    _(refuses_atomics_before, "... and several have died since one did")                       \
    _(refuses_kinds, "rollback: atomics that do not commute were logged towards it")           \
    _(refuses_races, "rollback: values that ranks raced for were fetched from it")             \
    _(request_program, "rollback: the program asked for it")                                   \
    _(request_waits_on_changes, "rollback: a wait is for a word that others swapped")          \
    _(request_by_report, "rank 0 hears of a request from somebody's report first")             \
    _(refuses_waits_several, "rollback: several ranks are lost in a program that waits")       \
    _(refuses_waits_first, "rollback: the program waits for the first time")                   \
    _(wait_replayed, "a wait of a replacement returns by what others logged")                  \
    _(wait_asks_rest, "a wait of a replacement is beyond its predecessor's death")             \
    _(gsync_asks_rest, "... its gsync is")                                                     \
    _(get_asks_rest, "... a get without a record is")                                          \
    _(put_is_held, "a put waits until a replacement has replayed the rest")                    \
    _(put_was_done, "a put that the predecessor did is only logged")                           \
    _(put_parts, "what one call puts at several places is one record")                         \
    _(signal_cached, "... of data and a signal, the short way")                                \
    _(parts_were_done, "one of these that the predecessor did is only logged")                 \
    _(front_of_dead, "the front is where a dead rank alone had been")                          \
    _(kinds_told, "whom a rank accesses is told what it uses")                                 \
    _(first_wait_waits, "a first wait waits until replacements are back where others died")    \
    _(redone_summed, "a replacement compares what it did again with what others have of it")   \
    _(redone_counted, "... and how much that is, where others have it by stores")              \
    _(generation_0, "recovery from the program's start")                                       \
    _(generation_later, "recovery from a checkpoint")                                          \
    _(catastrophe_group, "a group lost more members than parity covers")                       \
    _(catastrophe_unarmed, "... counting one that had not its share of parity again")          \
    _(rebuild_source_dies, "a member of the group dies while an image is rebuilt from it")     \
    _(rebuild_dies, "a replacement dies before its memory is there")                           \
    _(coordinator_dies, "rank 0 dies with reports that it has not answered")                   \
    _(catastrophe_all, "no process survived")                                                  \
    _(decided_by_replacement, "rank 0's replacement decides")                                  \
    _(decision_for_other_view, "a decision for another view is ignored")                       \
    _(late_request, "a request of a dead incarnation is ignored")                              \
    _(committed_by_decision, "a generation is taken into use because the decision names it")   \
    _(demand_image, "a rank takes an image of its own because a log is full")                  \
    _(demand_restored, "recovery from an image of its own")                                    \
    _(demand_by_decision, "a rank's own image is taken into use because the decision says so") \
    _(refuses_starts, "rollback: ranks that begin at different positions are lost together")   \
    _(refuses_demand_parity, "rollback: a rank's own image is beyond parity")                  \
    _(refuses_locks_several, "rollback: several ranks are lost in a program that locks")       \
    _(refuses_waits_atomics, "rollback: atomics that do not commute, in a program that waits") \
    _(refuses_waits_fetched, "rollback: one that asked for values before it was such a one")   \
    _(refuses_awaited, "rollback: values are awaited from the dead, in such a program")        \
    _(fetch_replays, "a value that is in a record brings back what was put before it")         \
    _(atomic_was_done, "a replacement only logs an atomic that is done, in such a program")    \
    _(section_over, "a critical section that was over is done again, and only logged")         \
    _(section_open, "one that is open is done again")                                          \
    _(section_unrecorded, "... its lock has no record, and is held all the same")              \
    _(section_new, "a lock without a record is a new one: the process has caught up")          \
    _(section_own, "a section of own memory is done again in its turn")                        \
    _(reading_over, "a reading that was over is done again")                                   \
    _(reading_open, "one that is open is done again")                                          \
    _(lock_left, "a replacement finds its lock held by a survivor")

/* cases reached never or too rarely without a test that draws for them or makes the library fail
 * (check/plant.h): such a test requires them */
#define KEEL_CASES_PLANTED(_)                                                                 \
    _(awaited_carried, "what is awaited from the dead is known by another's answer")          \
    _(awaited_again, "... is fetched again behind what others found")                         \
    _(put_remote, "a put is an operation of its source alone")                                \
    _(image_remote, "an image or parity share is read by operations of its reader alone")     \
    _(get_remote, "what gets by operations read is recorded at the target by another one")    \
    _(get_room_spent, "a get is asked for, because the room granted for records is used up")  \
    _(request_first_wait, "rollback: ranks begin to wait while another comes back")           \
    _(request_mixes, "rollback: a rank mixes ways to synchronise while another comes back")   \
    _(mix_waits, "the first mixing call waits for ranks that are lost")                       \
    _(refuses_stop, "rollback: the checkpoint of a stop was not complete")                    \
    _(stop_joined, "a rank joins a stop at a safe point")                                     \
    _(stop_interrupts, "... in a collective call, which it makes again")                      \
    _(stop_inherited, "rank 0's replacement begins the stop again in which others wait")      \
    _(stop_committed, "the image of a stop is in use when it ends")                           \
    _(refuses_mixed, "rollback: the program mixes ways to synchronise")                       \
    _(refuses_bare, "rollback: some ranks lock, and others access without")                   \
    _(atomic_same, "a re-executing process does an atomic to one at its position")            \
    _(request_no_room, "rollback: a replacement has no room for what was recorded")           \
    _(request_differs, "rollback: the re-execution is not what was recorded")                 \
    _(refuses_unhanded, "rollback: it had not handed its atomics over to a replacement")      \
    _(answer_recorded, "a replacement is answered about its words as its predecessor was")    \
    _(answer_asks_rest, "... and beyond that one's death anew")                               \
    _(look_recorded, "a replacement is told that a request is not complete, as before")       \
    _(look_waits, "... or waits until it is, as nobody knows that it was not")                \
    _(own_fetch_recorded, "what a replacement fetches from itself is answered from a record") \
    _(control_in_pieces, "a control message arrives in several pieces")                       \
    _(control_cut, "... and another begins, since the sender of the first died amid it")

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
