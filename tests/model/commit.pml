/*
 * The checkpoint commit: protocol/ckpt.md, protocol/epoch.md; src/ckpt/coordinated.c, exchange.c, repair.c,
 * src/epoch/gsync.c, src/peer/board.h; and the generation that the view's decision names, src/recovery/view.c.
 *
 * Ranks 0 and 1 are a group and share parity; rank 2 stands for another group: the share of its image lies with a process
 * that never dies, knows what rank 2 knows and does nothing else. All start after gsync 1 with generation 1 in use and
 * pass LAST gsyncs; at any of them rank 0 may have a checkpoint taken. DEATHS processes die at any step, as long as no group
 * has lost more than its parity covers; a replacement is there at once and has nothing. Each rank learns of a death by
 * itself, freezes, reports; rank 0 decides; everybody takes that up by itself. view.pml has what is one step here: the way
 * from the image to the front, the barriers of a rollback; and deaths that are heard of in another order than they happened.
 * A share is computed at one moment, at any after the images seem to be there: what is wrong during a longer one is at some.
 *
 * What must hold:
 *   restorable   of the generation that a decision names the dead rank's image can be rebuilt, while it reads as well, and
 *                after a rollback everybody has its own; never torn, never of a generation whose number came again
 *   covered      no log was trimmed beyond that generation
 *   no loss      no decision finds more members without image or share than have died
 *   progress     no deadlock: everybody passes the last gsync; what rank 0 makes all make, so it does not wait for ever
 *
 * Each M_... leaves one measure out and must be refuted; each R_... says that something never happens, and so must it be.
 * Without M_NO_COMMIT_AT_REPORT's measure all of this holds as well: the decision does the same.
 */
#define N 3
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef LAST
#define LAST 4
#endif

#define IDLE   0
#define IMAGES 1
#define SAFE   2

#define TORN 255

typedef row {
    byte e[N]
};
typedef pair {
    byte e[2]
};
typedef slot {
    byte arrive, second, parity, committed, flags /* bits: of gsync n at FLAG(n) */
};
typedef board_t {
    slot e[N]
};

/* memory that others read: number of the generation + 16 * the rollback number it was made under; 0: nothing */
pair image[N], share[N];

byte deaths;
byte who[DEATHS + 1];  /* 1: the first that died, ... */
byte last[N];          /* the death that its incarnation came after */

/* of each process */
board_t board[N];      /* what others wrote there; own words at the own place */
row said[N];           /* image messages of its group */
byte told[N];          /* its newest image message, and the incarnation that sent it */
byte told_by[N];
byte known[N];         /* deaths that it has learned of */
byte live[N];
byte pos[N], arrived[N], front[N], rollback[N];
byte used[N], making[N], stage[N];
bit used_slot[N], fresh[N], frozen[N], rolling[N], in_second[N], awaits[N], armed[N];
byte trimmed[N];       /* its logs go back to here */

/* the newest report of each rank */
byte r_view[N], r_used[N], r_front[N];
bit r_slot[N], r_armed[N], r_fresh[N], r_rolling[N], r_sent[N];

/* the newest decision: of which deaths, who is to take it up */
byte d_view, d_used, d_front, d_to;
bit d_slot, d_rolls, d_any;

byte i, n; /* only inside a step */
bit yes;

#define BIT(x)       (1 << (x))
#define NUMBER(x)    ((x) % 16)
#define LARGER(a, b) ((a) > (b) -> (a) : (b))
#define MATE(r)      (1 - (r))
#define IS_DONE(r)   (pos[r] == LAST && !frozen[r])
#define ALL_DONE     (IS_DONE(0) && IS_DONE(1) && IS_DONE(2))
#define KNOWS(r, q)  (known[r] >= last[q])
#define IS_RUNNING(r) (!fresh[r] && !rolling[r])
#ifdef M_ONE_FLAG
#define FLAG(n)      1
#else
#define FLAG(n)      (1 << ((n) & 1))
#endif
#ifdef M_ONE_SLOT
#define MAKING_SLOT(r) used_slot[r]
#else
#define MAKING_SLOT(r) (1 - used_slot[r])
#endif

/* the group lacks nothing but what a death of r takes */
#define MAY_DIE(r) (deaths < DEATHS && !ALL_DONE && \
                    (r == 2 -> !fresh[2] : !fresh[MATE(r)] && armed[MATE(r)] && !fresh[r]))

inline die(r)
{
    deaths++;
    who[deaths] = r;
    last[r] = deaths;
    known[r] = deaths;
    image[r].e[0] = 0; image[r].e[1] = 0;
    if
    :: r < 2 -> share[r].e[0] = 0; share[r].e[1] = 0; used[r] = 0; used_slot[r] = 0
    :: else /* these are the other process's, which loses nothing and reports */
    fi;
    for (i : 0 .. N - 1) {
        board[r].e[i].arrive = 0; board[r].e[i].second = 0; board[r].e[i].parity = 0;
        board[r].e[i].committed = 0; board[r].e[i].flags = 0;
        said[r].e[i] = 0
    }
    i = 0;
    live[r] = 0; pos[r] = 0; arrived[r] = 0; front[r] = 0; rollback[r] = 0; trimmed[r] = 0;
    making[r] = 0; stage[r] = IDLE; rolling[r] = 0; in_second[r] = 0; awaits[r] = 0;
    armed[r] = 0;
    fresh[r] = 1; frozen[r] = 1;
    report(r)
}

inline commit(r)
{
    used[r] = making[r];
    used_slot[r] = MAKING_SLOT(r);
    making[r] = 0;
    stage[r] = IDLE;
    armed[r] = 1;
    board[r].e[r].committed = NUMBER(used[r])
}

inline give_up(r)
{
    making[r] = 0;
    stage[r] = IDLE;
    board[r].e[r].parity = NUMBER(used[r])
}

/* the next death, and the replacement that came after it */
inline learn(r)
{
    known[r]++;
    n = who[known[r]];
    frozen[r] = 1;
    board[r].e[n].arrive = 0;
    board[r].e[n].second = 0;
    live[r] = live[r] & ~BIT(n);
    if
    :: r < 2 && n < 2 -> said[r].e[n] = 0
    :: else
    fi;
    n = 0;
    report(r)
}

inline announce(r, a, b, due, dies)
{
    awaits[r] = 0;
    in_second[r] = 0;
    arrived[r] = pos[r] + 1;
    board[r].e[r].arrive = arrived[r];
    board[r].e[r].flags = (board[r].e[r].flags & ~FLAG(arrived[r])) | (due -> FLAG(arrived[r]) : 0);
    write_all(r, a, b, dies)
}

/* the words of r to q, which may be dead without r knowing */
inline write_words(r, q)
{
    if
    :: (live[r] & BIT(q)) && KNOWS(r, q) ->
        board[q].e[r].arrive = board[r].e[r].arrive; board[q].e[r].second = board[r].e[r].second;
        board[q].e[r].parity = board[r].e[r].parity; board[q].e[r].committed = board[r].e[r].committed;
        board[q].e[r].flags = board[r].e[r].flags
    :: else
    fi
}

/* one by one; to be late for one of them changes nothing, unless the writer dies before it comes to that one */
inline write_all(r, a, b, dies)
{
    write_words(r, a);
    if
    :: dies -> die(r)
    :: else -> write_words(r, b)
    fi
}

#define HAS_SHARE(r, q) (board[r].e[q].parity == NUMBER(making[r]))
#ifdef M_COMMIT_IN_GROUP
#define IS_COMPLETE(r, a, b) \
    (stage[r] == SAFE && (r < 2 && a < 2 -> HAS_SHARE(r, a) : 1) && (r < 2 && b < 2 -> HAS_SHARE(r, b) : 1))
#else
#define IS_COMPLETE(r, a, b) (stage[r] == SAFE && HAS_SHARE(r, a) && HAS_SHARE(r, b))
#endif
#define IS_RELEASED(r)       (front[r] > pos[r])
#define HAS_ARRIVALS(r, a, b) (board[r].e[a].arrive > pos[r] && board[r].e[b].arrive > pos[r])

/* its image is copied after q has gone on and may have written into its memory */
#define IS_BEYOND(r, q) (!fresh[q] && rollback[q] == rollback[r] && arrived[q] > pos[r])

inline take(r, a, b, dies)
{
    give_up(r);
    making[r] = pos[r] + 16 * rollback[r];
    stage[r] = IMAGES;
    image[r].e[MAKING_SLOT(r)] = ((IS_BEYOND(r, a) || IS_BEYOND(r, b)) -> TORN : making[r]);
    told[r] = making[r];
    told_by[r] = last[r];
    board[r].e[r].second = pos[r];
    in_second[r] = 1;
    write_all(r, a, b, dies)
}

/* sync.c, keel_gsync_run() after its arrivals */
inline leave(r, a, b, dies)
{
    yes = !IS_RELEASED(r);
    pos[r]++;
    if
    :: yes ->
        if
        :: making[r] != 0 && (IS_COMPLETE(r, a, b) || (r != 0 && board[r].e[0].committed == NUMBER(making[r]))) ->
            commit(r);
            trimmed[r] = used[r]
        :: else
        fi;
        if
        :: board[r].e[0].flags & FLAG(pos[r]) -> take(r, a, b, dies)
        :: else
        fi
    :: else
    fi;
    yes = 0
}

#ifdef M_NO_SECOND_BARRIER
#define SECOND_IS_OVER(r, a, b) 1
#else
#define SECOND_IS_OVER(r, a, b) \
    (front[r] >= pos[r] || (board[r].e[a].second >= pos[r] && board[r].e[b].second >= pos[r]))
#endif

/* an image message comes: also one of an incarnation whose death is not known here yet */
#define HAS_COME(r, q) (told[q] != 0 && told[q] != said[r].e[q] && told[q] / 16 == rollback[r] && \
                        (KNOWS(r, q) -> told_by[q] == last[q] : told_by[q] < last[q]))

/* numbers, as in the messages */
#define HAS_IMAGES(r) \
    (r == 2 || NUMBER(said[r].e[MATE(r)]) == NUMBER(making[r]) || \
     (HAS_COME(r, MATE(r)) && NUMBER(told[MATE(r)]) == NUMBER(making[r])))
#define MATE_HAS(r)   (r == 2 || image[MATE(r)].e[MAKING_SLOT(r)] == making[r])

/* at any time when all images seem to be there */
inline encode(r)
{
    if
    :: r < 2 && HAS_COME(r, MATE(r)) -> said[r].e[MATE(r)] = told[MATE(r)]
    :: else
    fi;
    share[r].e[MAKING_SLOT(r)] = ((MATE_HAS(r) && image[r].e[MAKING_SLOT(r)] == making[r]) -> making[r] : TORN);
    stage[r] = SAFE;
    board[r].e[r].parity = NUMBER(making[r]);
#ifdef M_TRIM_EARLY
    trimmed[r] = making[r]
#endif
}

inline report(r)
{
#ifndef M_NO_COMMIT_AT_REPORT
    if
    :: r != 0 && making[r] != 0 && board[r].e[0].committed == NUMBER(making[r]) && last[0] == 0 ->
        commit(r);
        trimmed[r] = used[r]
    :: r != 0 && making[r] != 0 && board[r].e[0].committed == NUMBER(making[r]) && last[0] > known[r] ->
        commit(r);
        trimmed[r] = used[r]
    :: else
    fi;
#endif
    r_view[r] = known[r];
    r_used[r] = used[r];
    r_slot[r] = used_slot[r];
    r_front[r] = LARGER(pos[r], front[r]);
    r_armed[r] = armed[r];
    r_fresh[r] = fresh[r];
    r_rolling[r] = rolling[r];
    r_sent[r] = 1
}

#define AGREES(q) (r_sent[q] && r_view[q] == known[0])

/* the coin: whether something refuses local recovery */
inline decide(refuses)
{
    d_view = known[0]; d_used = 0; d_slot = 0; d_front = 0; d_rolls = refuses; d_any = 1;
    for (i : 0 .. N - 1) {
        d_rolls = d_rolls | r_rolling[i];
        d_front = LARGER(d_front, (r_fresh[i] -> 0 : r_front[i]));
        if
        :: NUMBER(r_used[i]) > NUMBER(d_used) -> d_used = r_used[i]; d_slot = r_slot[i]
        :: else
        fi
    }
    i = 0;
    /* no loss */
    assert(d_used != 0);
    assert((!r_fresh[0] && r_armed[0]) || (!r_fresh[1] && r_armed[1]));
    d_to = 6;
    take_up(0)
}

/* both at the front and knowing of each other: words are handed over and they go live (view.pml has how) */
#define IS_FRONT(r) (!fresh[r] && !frozen[r] && !rolling[r])
inline connect(r, q)
{
    if
    :: IS_FRONT(r) && IS_FRONT(q) && KNOWS(r, q) && KNOWS(q, r) && !(live[r] & BIT(q)) ->
        live[r] = live[r] | BIT(q);
        board[q].e[r].arrive = LARGER(board[r].e[r].arrive, pos[r]); board[q].e[r].second = board[r].e[r].second;
        board[q].e[r].parity = board[r].e[r].parity; board[q].e[r].committed = board[r].e[r].committed;
        board[q].e[r].flags = board[r].e[r].flags
    :: else
    fi
}
inline connect_all()
{
    connect(0, 1); connect(1, 0); connect(0, 2); connect(2, 0); connect(1, 2); connect(2, 1)
}

inline clear_reports(r)
{
    r_view[r] = 0; r_used[r] = 0; r_slot[r] = 0; r_front[r] = 0; r_armed[r] = 0; r_fresh[r] = 0; r_rolling[r] = 0;
    r_sent[r] = 0
}

inline take_up(r)
{
    frozen[r] = 0;
    clear_reports(r);
    if
    :: fresh[r] -> used[r] = d_used; used_slot[r] = d_slot; front[r] = d_front; rolling[r] = d_rolls
    :: else ->
#ifndef M_NO_COMMIT_BY_DECISION
        if
        :: NUMBER(used[r]) < NUMBER(d_used) && NUMBER(making[r]) == NUMBER(d_used) ->
#ifdef R_COMMIT_BY_DECISION
            assert(0);
#endif
            commit(r);
            if
            :: !d_rolls -> trimmed[r] = used[r]
            :: else
            fi
        :: else
        fi;
#endif
#ifdef R_OLD_SERVES
        assert(making[r] == 0 || d_used == making[r]);
#endif
#ifndef M_NO_ABORT
        if
        :: making[r] != 0 -> give_up(r)
        :: else
        fi;
#endif
        assert(NUMBER(trimmed[r]) <= NUMBER(d_used));
        if
        :: d_rolls -> rolling[r] = 1; front[r] = 0
        :: else -> front[r] = LARGER(front[r], d_front)
        fi
    fi;
    connect_all()
}

inline take_decision(r)
{
    d_to = d_to & ~BIT(r);
    take_up(r);
    if
    :: d_to == 0 -> d_view = 0; d_used = 0; d_slot = 0; d_front = 0; d_rolls = 0; d_any = 0
    :: else
    fi
}

/* what the dead rank's image is computed from */
#define CAN_REBUILD(r) \
    (r == 2 -> share[2].e[used_slot[r]] == used[r] \
            : image[MATE(r)].e[used_slot[r]] == used[r] && share[MATE(r)].e[used_slot[r]] == used[r])

inline rebuilt(r)
{
    assert(CAN_REBUILD(r));
    image[r].e[used_slot[r]] = used[r];
    trimmed[r] = used[r];
    board[r].e[r].parity = NUMBER(used[r]);
    board[r].e[r].committed = NUMBER(used[r]);
    armed[r] = (r == 2)
}

/* local: it has re-executed up to the front */
inline restore(r)
{
    rebuilt(r);
    fresh[r] = 0;
    pos[r] = front[r];
    arrived[r] = front[r];
    front[r] = 0;
    board[r].e[r].arrive = pos[r];
    awaits[r] = 1;
    for (i : 0 .. N - 1) {
        rollback[r] = LARGER(rollback[r], rollback[i])
    }
    i = 0;
    connect_all()
}

#define IS_STOPPED(r) (rolling[r] && !frozen[r] && known[r] == deaths && image[r].e[used_slot[r]] != 0)

/* rebuild.c, rollback_state() of all between its barriers */
inline roll_back()
{
    rollback[0] = LARGER(LARGER(rollback[0], rollback[1]), rollback[2]) + 1;
    for (i : 0 .. N - 1) {
        assert(used[i] == used[0] && image[i].e[used_slot[i]] == used[i]);
        fresh[i] = 0; rolling[i] = 0; rollback[i] = rollback[0]; front[i] = 0; in_second[i] = 0; awaits[i] = 0;
        pos[i] = NUMBER(used[i]); arrived[i] = pos[i];
        trimmed[i] = used[i];
        live[i] = 7 & ~BIT(i);
        for (n : 0 .. N - 1) {
            board[i].e[n].arrive = 0; board[i].e[n].second = 0; board[i].e[n].parity = 0; board[i].e[n].committed = 0;
            board[i].e[n].flags = 0
        }
        board[i].e[i].parity = pos[i]; board[i].e[i].committed = pos[i];
#ifndef M_IMAGES_KEPT
        said[i].e[0] = 0; said[i].e[1] = 0; said[i].e[2] = 0
#endif
    }
    i = 0; n = 0
}

#define IS_CALLED(r) (board[r].e[0].flags & FLAG(pos[r] + 1))
#define MAY_PASS(r, a, b) \
    (IS_RUNNING(r) && !frozen[r] && arrived[r] == pos[r] + 1 && (IS_RELEASED(r) || HAS_ARRIVALS(r, a, b)))
/* coordinated.c, keel_ckpt_is_due() */
#ifdef M_BEGIN_BEFORE_COMMIT
#define MAY_BE_DUE 1
#else
#define MAY_BE_DUE (making[0] == 0)
#endif
#define MAY_ARRIVE(r, a, b) \
    (IS_RUNNING(r) && !frozen[r] && (!in_second[r] || SECOND_IS_OVER(r, a, b)) && arrived[r] == pos[r] && pos[r] < LAST && \
     (!awaits[r] || live[r] == (7 & ~BIT(r))))

/* nothing that is to be waited for, and nobody makes */
#define IS_MAKING(q) (making[q] == making[0] || used[q] == making[0])

proctype Rank(byte r; byte a; byte b)
{
    do
    :: d_step { known[r] < deaths -> learn(r) }
    :: d_step { MAY_ARRIVE(r, a, b) -> announce(r, a, b, 0, 0) }
    :: d_step { r == 0 && MAY_ARRIVE(r, a, b) && MAY_BE_DUE -> announce(r, a, b, 1, 0) }
    :: d_step { MAY_PASS(r, a, b) -> leave(r, a, b, 0) }
    :: d_step { stage[r] == IMAGES && armed[r] && HAS_IMAGES(r) && (r == 2 || KNOWS(r, MATE(r))) -> encode(r) }
    :: d_step { r != 0 && (d_to & BIT(r)) && frozen[r] && known[r] == d_view -> take_decision(r) }
    /* its image */
    :: d_step { fresh[r] && !frozen[r] && !rolling[r] -> restore(r) }
    :: d_step { fresh[r] && !frozen[r] && rolling[r] && image[r].e[used_slot[r]] == 0 -> rebuilt(r) }
    /* its share of the generation in use */
    :: d_step {
           IS_RUNNING(r) && !frozen[r] && !armed[r] && (r == 2 || KNOWS(r, MATE(r))) ->
           armed[r] = 1;
           share[r].e[used_slot[r]] = (image[MATE(r)].e[used_slot[r]] == used[r] -> used[r] : TORN)
       }
    :: ALL_DONE -> break
    :: d_step { MAY_DIE(r) -> die(r) }
    :: d_step { MAY_ARRIVE(r, a, b) && MAY_DIE(r) -> announce(r, a, b, 0, 1) }
    :: d_step { r == 0 && MAY_ARRIVE(r, a, b) && MAY_BE_DUE && MAY_DIE(r) -> announce(r, a, b, 1, 1) }
    :: d_step { MAY_PASS(r, a, b) && !IS_RELEASED(r) && IS_CALLED(r) && MAY_DIE(r) -> leave(r, a, b, 1) }
    od
}

proctype Coordinator()
{
    do
    :: d_step { ALL_DONE -> assert(making[0] == 0 || (IS_MAKING(1) && IS_MAKING(2))) }
       break
    :: d_step { frozen[0] && AGREES(0) && AGREES(1) && AGREES(2) -> decide(0) }
    :: d_step { frozen[0] && AGREES(0) && AGREES(1) && AGREES(2) -> decide(1) }
    :: d_step { IS_STOPPED(0) && IS_STOPPED(1) && IS_STOPPED(2) -> roll_back() }
    od
}

init
{
    d_step {
        for (i : 0 .. N - 1) {
            live[i] = 7 & ~BIT(i);
            image[i].e[0] = 1; share[i].e[0] = 1;
            used[i] = 1; trimmed[i] = 1; armed[i] = 1; pos[i] = 1; arrived[i] = 1;
            board[i].e[0].parity = 1; board[i].e[1].parity = 1; board[i].e[2].parity = 1;
            board[i].e[0].committed = 1; board[i].e[1].committed = 1; board[i].e[2].committed = 1
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
