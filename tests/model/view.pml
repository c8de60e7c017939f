/*
 * The view change: protocol/recovery.md; src/recovery/view.c, position.c, rebuild.c, src/peer/board.h.
 *
 * N ranks pass LAST gsyncs, DEATHS processes die at any step and are replaced. Each rank learns of deaths and of
 * replacements by itself, freezes, reports; the leader decides; replacements re-execute from 0. Arrival words are written one by
 * one and at once, reports and decisions travel: late ones of dead incarnations may arrive as long as their receiver
 * has not heard of the death. What is left out: data, logs (what they refuse is a coin), images (commit.pml).
 *
 * What must hold:
 *   agreement    all who take up a decision of one view take up the same front, mode and rollback number, and nobody
 *                takes up a view older than one already decided; the dead count too
 *   front        nobody is beyond the front when it is decided; two ranks at the front are at most one gsync apart
 *   arrivals     who leaves a gsync by arrivals knows of every death that a rank it counted knew when it announced
 *   handed over  nobody passes gsync n + 1 before a replacement that is not at n yet, or that was not handed phase n
 *   progress     no deadlock: everybody passes the last gsync (and no cycle, so this happens)
 *
 * Each M_... leaves one measure out and must be refuted (model.sh).
 */
#define N 3
#ifndef LEADER
#define LEADER 1 /* not rank 0, so that a rank 0 written for the leader shows */
#endif
#ifdef M_LEADER_FIXED
#define REPORTS_TO 0
#else
#define REPORTS_TO LEADER
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef LAST
#define LAST 2
#endif

#define FRONT      0
#define RECOVERING 1
#define FRESH      2

#define ROLL_NONE     0
#define ROLL_PENDING  1
#define ROLL_DRAINED  2
#define ROLL_RESTORED 3

#define UNKNOWN 255 /* a replacement has not been greeted yet */

typedef row {
    byte e[N]
};

/* 2 * incarnation; one more: dead and not replaced */
byte truth[N];
byte deaths;

/* of each process */
row known[N];  /* what it takes truth to be */
row board[N];  /* arrival words: rollback number * 32 + incarnation * 8 + gsync */
row hands[N];  /* 1 + the position up to which it was handed everything */
row heard[N];  /* rollback: number * 4 + stage */
byte live[N];  /* bits: it is live towards that rank */
byte pos[N], arrived[N], front[N], state[N], tosend[N];
bit frozen[N], reported[N], decided[N], awaits[N];
byte roll[N], target[N], rollback[N];
byte hole[N];  /* bits: its puts of this phase are not in place there */

/* the newest report of each rank, on its way or at the leader: to take it in changes nothing but what can be decided */
row r_view[N];
byte r_pos[N], r_front[N], r_state[N], r_rollback[N], r_incarnation[N], r_to[N];
bit r_refuses[N], r_sent[N];

/* the newest decision: unsent and flying are bits */
row d_view;
byte d_front, d_rollback, d_incarnation, d_unsent, d_flies;
bit d_rolls, d_open;

/* the newest decision that anybody took up */
row g_view;
byte g_front, g_rollback;
bit g_rolls, g_any;

byte i, j; /* only inside a step */
bit yes;

#define BIT(x)          (1 << (x))
#define IS_UP(x)        ((x) % 2 == 0)
#define IS_THERE(r, q)  (known[r].e[q] == truth[q] && IS_UP(truth[q]))
#ifdef M_MOMENTARY_POSITION
#define POSITION(r)     pos[r]
#else
#define POSITION(r)     ((state[r] == FRONT && front[r] > pos[r]) -> front[r] : pos[r])
#endif
#define WORD(r, n)      (rollback[r] * 32 + (truth[r] / 2) * 8 + (n))
#ifdef M_DEAD_ARRIVALS
#define ARRIVAL(r, q)   (board[r].e[q] % 8)
#else
#define ARRIVAL(r, q)   ((board[r].e[q] / 8 == rollback[r] * 4 + known[r].e[q] / 2) -> board[r].e[q] % 8 : 0)
#endif
#define LARGER(a, b)    ((a) > (b) -> (a) : (b))
#define IS_COMPLETE(r)  (known[r].e[0] != UNKNOWN && known[r].e[1] != UNKNOWN && known[r].e[2] != UNKNOWN && \
                         IS_UP(known[r].e[0]) && IS_UP(known[r].e[1]) && IS_UP(known[r].e[2]))
#define IS_VIEW(r, v)   (known[r].e[0] == v.e[0] && known[r].e[1] == v.e[1] && known[r].e[2] == v.e[2])
#define ALL_DONE        (pos[0] == LAST && pos[1] == LAST && pos[2] == LAST)
#define NOBODY_DONE     (pos[0] < LAST && pos[1] < LAST && pos[2] < LAST)
#define IS_RUNNING(r)   (IS_UP(truth[r]) && roll[r] == ROLL_NONE && state[r] != FRESH)
#define HAS_HANDED_OVER(r, q) (!awaits[r] || hands[r].e[q] > pos[r])

#ifdef M_LEAVE_FROZEN
#define MAY_LEAVE(r) IS_RUNNING(r)
#else
#define MAY_LEAVE(r) (IS_RUNNING(r) && !frozen[r])
#endif
#ifdef M_ARRIVE_FROZEN
#define MAY_ARRIVE(r) IS_RUNNING(r)
#else
#define MAY_ARRIVE(r) (IS_RUNNING(r) && !frozen[r])
#endif
#ifdef M_NO_HAND_OVER
#define MAY_ANNOUNCE(r, q) (1)
#else
#define MAY_ANNOUNCE(r, q) HAS_HANDED_OVER(r, q)
#endif

/* what is over is cleared, here and below, so that states which differ in nothing else are one */
inline clear_report(r)
{
    r_view[r].e[0] = 0; r_view[r].e[1] = 0; r_view[r].e[2] = 0;
    r_pos[r] = 0; r_front[r] = 0; r_state[r] = 0; r_rollback[r] = 0; r_incarnation[r] = 0; r_to[r] = 0;
    r_refuses[r] = 0; r_sent[r] = 0
}

inline clear_decision()
{
    if
    :: d_flies == 0 && !d_open ->
        d_view.e[0] = 0; d_view.e[1] = 0; d_view.e[2] = 0;
        d_front = 0; d_rollback = 0; d_incarnation = 0; d_rolls = 0
    :: else
    fi
}

inline forget(r)
{
    board[r].e[0] = 0; board[r].e[1] = 0; board[r].e[2] = 0;
    hands[r].e[0] = 0; hands[r].e[1] = 0; hands[r].e[2] = 0;
    heard[r].e[0] = 0; heard[r].e[1] = 0; heard[r].e[2] = 0;
    live[r] = 0; pos[r] = 0; arrived[r] = 0; front[r] = 0; tosend[r] = 0; awaits[r] = 0; decided[r] = 0;
    roll[r] = ROLL_NONE; target[r] = 0; rollback[r] = 0; hole[r] = 0;
    state[r] = FRESH; reported[r] = 0;
    frozen[r] = 1
}

inline die(r)
{
    deaths++;
    truth[r]++;
    forget(r);
    known[r].e[0] = UNKNOWN; known[r].e[1] = UNKNOWN; known[r].e[2] = UNKNOWN;
    if
    :: r == LEADER -> d_unsent = 0; d_open = 0
    :: else
    fi
}

inline join(r)
{
    truth[r]++;
    known[r].e[r] = truth[r]
}

/* the next thing that the launcher or a greeting tells r of q */
inline learn(r, q)
{
    if
    :: known[r].e[q] == UNKNOWN -> known[r].e[q] = truth[q]
    :: else ->
        known[r].e[q]++;
        if
        :: !IS_UP(known[r].e[q]) ->
            frozen[r] = 1;
            reported[r] = 0;
#ifndef M_DEAD_ARRIVALS
            if
            :: board[r].e[q] / 8 % 4 == known[r].e[q] / 2 -> board[r].e[q] = 0
            :: else
            fi;
#endif
            hands[r].e[q] = 0;
            live[r] = live[r] & ~BIT(q)
        :: else
        fi
    fi
}

/* all accesses of the phase are flushed; the arrival is to be told to everybody towards whom r is live */
inline arrive(r)
{
    awaits[r] = 0;
    hands[r].e[0] = 0; hands[r].e[1] = 0; hands[r].e[2] = 0;
    arrived[r] = pos[r] + 1;
    tosend[r] = live[r];
    hole[r] = (IS_UP(known[r].e[0]) -> 0 : 1) | (IS_UP(known[r].e[1]) -> 0 : 2) | (IS_UP(known[r].e[2]) -> 0 : 4)
}

inline write_arrival(r)
{
    i = 0;
    do
    :: (tosend[r] & BIT(i)) -> break
    :: else -> i++
    od;
    tosend[r] = tosend[r] & ~BIT(i);
    if
    :: IS_THERE(r, i) -> board[i].e[r] = WORD(r, arrived[r])
    :: else
    fi;
    i = 0
}

#define IS_RELEASED(r)       (state[r] == FRONT && front[r] > pos[r])
#define HAS_ARRIVALS(r, a, b) (ARRIVAL(r, a) > pos[r] && ARRIVAL(r, b) > pos[r])

/* what r counts on when it leaves by arrivals */
inline check_arrival(r, q)
{
    for (i : 0 .. N - 1) {
        assert(!(hole[q] & BIT(i)) || arrived[q] != pos[r] + 1 || known[r].e[i] >= known[q].e[i])
    }
    i = 0
}

/* as r, which leaves by arrivals, may go on to read at d what q put there */
#define IS_IN_PLACE(r, q, d) \
    (!IS_THERE(r, q) || !IS_THERE(r, d) || state[q] != FRONT || state[d] != FRONT || (live[q] & BIT(d)))

/* two ranks at the front are at most one gsync apart */
#define IS_FRONT(r) (IS_UP(truth[r]) && state[r] == FRONT && roll[r] == ROLL_NONE && !frozen[r])
#define IS_NEAR(r, q) \
    (!IS_FRONT(r) || !IS_FRONT(q) || rollback[r] != rollback[q] || POSITION(r) <= POSITION(q) + 1)

inline leave(r, a, b)
{
    if
    :: !IS_RELEASED(r) && state[r] == FRONT ->
        check_arrival(r, a);
        check_arrival(r, b);
        assert(IS_IN_PLACE(r, a, b) && IS_IN_PLACE(r, b, a) && IS_IN_PLACE(r, a, r) && IS_IN_PLACE(r, b, r));
        /* a replacement that is behind was handed nothing that it leaves with */
        assert(!IS_UP(truth[a]) || known[r].e[a] != truth[a] || state[a] != RECOVERING || pos[a] >= pos[r]);
        assert(!IS_UP(truth[b]) || known[r].e[b] != truth[b] || state[b] != RECOVERING || pos[b] >= pos[r])
    :: else
    fi;
    pos[r]++;
    hole[r] = 0;
    assert(IS_NEAR(r, a) && IS_NEAR(r, b));
    if
    :: state[r] == RECOVERING -> /* those it stood with are behind now, and it is ahead of them, until they say more */
        live[r] = 0;
        live[a] = live[a] & ~BIT(r);
        live[b] = live[b] & ~BIT(r);
        if
        :: pos[r] >= front[r] -> state[r] = FRONT; awaits[r] = 1
        :: else
        fi
    :: else ->
        if
        :: front[r] <= pos[r] -> front[r] = 0
        :: else
        fi
    fi
}

/* position.c: place_step */
#define MAY_HAND(r, q)                                                                                          \
    (IS_RUNNING(r) && !frozen[r] && tosend[r] == 0 && IS_THERE(r, q) && state[q] != FRESH &&                    \
     roll[q] == ROLL_NONE && !(live[r] & BIT(q)) &&                                                             \
     ((state[q] == FRONT && state[r] == FRONT) ||                                                               \
      (state[q] == RECOVERING && (POSITION(r) == pos[q] ||                                                      \
                                  (POSITION(r) > pos[q] && board[q].e[r] != WORD(r, pos[q] + 1))))))

inline hand(r, q)
{
    if
    :: state[q] == FRONT || POSITION(r) == pos[q] ->
        live[r] = live[r] | BIT(q);
        board[q].e[r] = WORD(r, LARGER(arrived[r], POSITION(r)));
        hands[q].e[r] = POSITION(r) + 1
    :: else -> board[q].e[r] = WORD(r, pos[q] + 1)
    fi
}

/* logs that are not whole refuse local recovery: a coin */
inline report(r, refuses)
{
    r_view[r].e[0] = known[r].e[0]; r_view[r].e[1] = known[r].e[1]; r_view[r].e[2] = known[r].e[2];
    r_pos[r] = POSITION(r);
#ifndef M_REPORT_WITHOUT_FRONT
    r_front[r] = front[r];
#endif
    r_state[r] = state[r];
    r_rollback[r] = LARGER(rollback[r], target[r]);
#ifdef M_ROLLING_NOT_TOLD
    r_refuses[r] = refuses;
#else
    r_refuses[r] = refuses | (roll[r] != ROLL_NONE);
#endif
    r_incarnation[r] = truth[r];
    r_to[r] = known[r].e[REPORTS_TO];
    r_sent[r] = 1;
    reported[r] = 1
}

/* it came to this process, and from the process that the leader takes for alive */
#define HAS_COME(q) (r_sent[q] && r_to[q] == truth[LEADER] && r_incarnation[q] == known[LEADER].e[q])
#ifdef M_DECIDE_ON_OTHER_VIEW
#define AGREES(q) HAS_COME(q)
#else
#define AGREES(q) (HAS_COME(q) && IS_VIEW(LEADER, r_view[q]))
#endif

#define HAS_AGREED(q) ((q) == LEADER || AGREES(q))

inline decide()
{
    d_front = 0; d_rollback = 0; d_rolls = 0;
    yes = 0; j = 0;
    for (i : 0 .. N - 1) {
        d_rollback = LARGER(d_rollback, r_rollback[i]);
        d_rolls = d_rolls | r_refuses[i];
        if
        :: r_state[i] != FRESH ->
            d_front = LARGER(d_front, LARGER(r_pos[i], r_front[i]));
            d_rolls = d_rolls | (yes && j != r_rollback[i]);
            yes = 1;
            j = r_rollback[i]
        :: else
        fi;
        d_view.e[i] = known[LEADER].e[i]
    }
    assert(yes); /* somebody survived */
    if
    :: d_rolls -> d_rollback++; d_front = 0
    :: else
    fi;
    d_incarnation = truth[LEADER];
    d_unsent = 7 & ~BIT(LEADER);
    d_flies = 0;
    d_open = 1;
    i = 0; j = 0; yes = 0
}

inline send_decision()
{
    if
    :: d_unsent & 1 -> d_unsent = d_unsent & ~1; d_flies = d_flies | 1
    :: (d_unsent & 3) == 2 -> d_unsent = d_unsent & ~2; d_flies = d_flies | 2
    :: else -> d_unsent = d_unsent & ~4; d_flies = d_flies | 4
    fi
}

inline take_up(r)
{
    if
    :: g_any && g_view.e[0] == known[r].e[0] && g_view.e[1] == known[r].e[1] && g_view.e[2] == known[r].e[2] ->
        assert(g_front == d_front && g_rolls == d_rolls && g_rollback == d_rollback)
    :: else ->
        for (i : 0 .. N - 1) {
            assert(!g_any || known[r].e[i] >= g_view.e[i]);
            g_view.e[i] = known[r].e[i]
        }
        g_any = 1; g_front = d_front; g_rolls = d_rolls; g_rollback = d_rollback
    fi;
    frozen[r] = 0;
    reported[r] = 0;
    clear_report(r);
    decided[r] = (state[r] == FRESH);
    if
    :: d_rolls -> roll[r] = ROLL_PENDING; target[r] = d_rollback; front[r] = 0
    :: else ->
        assert(state[r] == FRESH || pos[r] <= d_front);
        if
        :: state[r] == FRESH -> front[r] = d_front; rollback[r] = d_rollback; target[r] = d_rollback
        :: else -> front[r] = LARGER(front[r], d_front)
        fi
    fi;
    i = 0
}

inline take_decision(r)
{
    d_flies = d_flies & ~BIT(r);
    if
#ifdef M_OTHER_VECTOR
    :: d_incarnation == known[r].e[LEADER] && frozen[r] -> take_up(r)
#else
    :: d_incarnation == known[r].e[LEADER] && IS_VIEW(r, d_view) && reported[r] -> take_up(r)
#endif
    :: else
    fi;
    clear_decision()
}

/* rebuild.c: the memory is back */
inline restore(r)
{
    decided[r] = 0;
    state[r] = (front[r] > 0 -> RECOVERING : FRONT);
    awaits[r] = (front[r] == 0)
}

inline say(r, stage)
{
    for (i : 0 .. N - 1) {
        if
        :: i != r && IS_THERE(r, i) -> heard[i].e[r] = LARGER(heard[i].e[r], target[r] * 4 + stage)
        :: else
        fi
    }
    i = 0;
    roll[r] = stage
}

#define HAVE_SAID(r, a, b, stage) \
    (heard[r].e[a] >= target[r] * 4 + (stage) && heard[r].e[b] >= target[r] * 4 + (stage))

inline rolled_back(r)
{
    rollback[r] = target[r];
    board[r].e[0] = 0; board[r].e[1] = 0; board[r].e[2] = 0;
    pos[r] = 0; arrived[r] = 0; tosend[r] = 0; awaits[r] = 0; hole[r] = 0;
    live[r] = 7 & ~BIT(r);
    say(r, ROLL_RESTORED)
}

/* the leader hears of nothing between its decision and taking it up: one call in view.c */
#define STEP_LEARN(r, q) \
    (IS_UP(truth[r]) && !(r == LEADER && d_open) && ((known[r].e[q] == UNKNOWN && IS_UP(truth[q])) || known[r].e[q] < truth[q]))

proctype Rank(byte r; byte a; byte b)
{
    do
    :: d_step { STEP_LEARN(r, a) -> learn(r, a) }
    :: d_step { STEP_LEARN(r, b) -> learn(r, b) }
    :: d_step {
           /* what is to be handed over is, whenever a position is heard of, which is before its hands */
           MAY_ARRIVE(r) && arrived[r] == pos[r] && pos[r] < LAST && MAY_ANNOUNCE(r, a) && MAY_ANNOUNCE(r, b) &&
           !MAY_HAND(r, a) && !MAY_HAND(r, b) ->
           arrive(r)
       }
    :: d_step { IS_UP(truth[r]) && tosend[r] != 0 -> write_arrival(r) }
    :: d_step {
           MAY_LEAVE(r) && arrived[r] == pos[r] + 1 && tosend[r] == 0 && (IS_RELEASED(r) || HAS_ARRIVALS(r, a, b)) ->
           leave(r, a, b)
       }
    :: d_step { MAY_HAND(r, a) -> hand(r, a) }
    :: d_step { MAY_HAND(r, b) -> hand(r, b) }
    :: d_step { IS_UP(truth[r]) && frozen[r] && tosend[r] == 0 && !reported[r] && IS_COMPLETE(r) -> report(r, 0) }
    :: d_step {
           IS_UP(truth[r]) && frozen[r] && tosend[r] == 0 && !reported[r] && IS_COMPLETE(r) && state[r] == FRONT ->
           report(r, 1)
       }
    :: d_step { IS_UP(truth[r]) && r != LEADER && (d_flies & BIT(r)) && known[r].e[LEADER] != UNKNOWN -> take_decision(r) }
    :: d_step { IS_UP(truth[r]) && state[r] == FRESH && !frozen[r] && decided[r] && roll[r] == ROLL_NONE -> restore(r) }
    :: d_step { IS_UP(truth[r]) && roll[r] == ROLL_PENDING && !frozen[r] -> say(r, ROLL_DRAINED) }
    :: d_step {
           IS_UP(truth[r]) && roll[r] == ROLL_DRAINED && !frozen[r] && HAVE_SAID(r, a, b, ROLL_DRAINED) -> rolled_back(r)
       }
    :: d_step {
           IS_UP(truth[r]) && roll[r] == ROLL_RESTORED && !frozen[r] && HAVE_SAID(r, a, b, ROLL_RESTORED) ->
           roll[r] = ROLL_NONE;
           decided[r] = 0;
           heard[r].e[0] = 0; heard[r].e[1] = 0; heard[r].e[2] = 0;
           state[r] = FRONT
       }
    :: ALL_DONE -> break
    :: d_step { !IS_UP(truth[r]) -> join(r) }
    :: d_step { IS_UP(truth[r]) && deaths < DEATHS && NOBODY_DONE -> die(r) }
    od
}

proctype Coordinator()
{
    do
    :: ALL_DONE -> break
    :: d_step {
           IS_UP(truth[LEADER]) && frozen[LEADER] && !d_open && IS_COMPLETE(LEADER) && reported[LEADER] &&
           HAS_AGREED(0) && HAS_AGREED(1) && HAS_AGREED(2) -> decide()
       }
    :: d_step { d_open && d_unsent != 0 -> send_decision() }
    :: d_step { d_open && d_unsent == 0 -> d_open = 0; take_up(LEADER); clear_decision() }
    od
}

init
{
    d_step {
        for (i : 0 .. N - 1) {
            live[i] = 7 & ~BIT(i)
        }
        i = 0
    }
    atomic {
        run Rank(0, 1, 2);
        run Rank(1, 0, 2);
        run Rank(2, 0, 1);
        run Coordinator()
    }
}
