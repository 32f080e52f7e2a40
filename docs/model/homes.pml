/* Homes: the life of one session. A replica, its home, keeps it in memory and answers its renewals. The database
 * hears of it only when it opens, moves or ends. One client in detail; other sessions are noise.
 * README.md says which code each rule stands for, and what is left out. scripts/check-model.py checks it.
 *
 * Every step is atomic: one transaction, one event at a replica or at the client, or one tick. Steps come in any order,
 * so a replica that does nothing for a while is a paused one. Numbers are relative: of a beat only matters whether it
 * has changed, of `departures` whether its replica knows what they are, and of `moves` whether it is still the row's.
 *
 * A request that is executed at once, and whose answer comes later or never, stands for one that is late, too: what a
 * replica may do counts from before it asked. Only requests that were given up and are executed later, or never, are
 * kept (`late`, `ending`).
 *
 * -D of the checks:
 *   H=n LEASE=n       how many ticks a row may stay unchanged, and how many a lease lasts
 *   SLOTS=n RUNNING=n rows of `homes` at a time, and how many processes run at a time
 *   CALLS=n           renewals under way at a time
 *   READ_AT_ONCE      a reading of departures is answered at once, which makes the search smaller
 *   DRAINS            replicas drain
 *   OPERATOR          an operator ends the session
 *   OUTAGES IDLE=n    nothing fails but the database, again and again; the client renews after n ticks at the latest
 *   PROGRESS          from some moment on nothing fails, and the client is gone; its session has to end
 *                     within H and a lease
 *   BREADTH_FIRST     for the shortest story
 *   SEE_STATEMENTS    for a report of each statement that is never reached, not only of each step
 * -D of the rules that are made weaker, one at a time: WEAK_... below.
 */

#ifndef H
#define H 1
#endif
#ifndef LEASE
#define LEASE 1
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef RUNNING
#define RUNNING SLOTS
#endif
#ifndef CALLS
#define CALLS 1
#endif
#ifndef IDLE
#define IDLE 0
#endif
#ifdef SEE_STATEMENTS
#define STEP atomic
#else
#define STEP d_step
#endif

/* By a slow clock, nine tenths of a lease last as long as the whole by a fast one. A beat is good for a tick longer,
 * since a countdown ends within its last tick: those of the beat and of the lease together would hide an error of one. */
#ifdef WEAK_LEASE_WITHOUT_MARGIN
#define TRUST (LEASE + 1)
#else
#define TRUST LEASE
#endif
#ifdef WEAK_BEAT_WITHOUT_MARGIN
#define GOOD (H + 2)
#else
#define GOOD (H + 1)
#endif

/* ---------------------------------------------------------------------- what the database holds */

/* The session's row. Ended is final. */
#define NEW 0
#define OPEN 1
#define ENDED 2   /* by its home after a silence, or as an orphan */
#define REVOKED 3 /* by somebody who has the right */
byte session;
byte home;

/* How long what is answered after a revocation may be believed, at most. */
byte believable;

/* The rows of homes: one per incarnation. A slot is used again once nothing points to its row. */
bit dead[SLOTS];

/* How long others have to wait before they may declare it dead, or, if it is, before its sessions are orphans. */
byte quiet[SLOTS];

/* ------------------------------------------------------------------------ what a replica knows */

#define FREE 0
#define UP 1
#define DRAINING 2
#define GONE 3
byte process[SLOTS];

byte good[SLOTS]; /* how long its beat is good */

/* If its last beat has shown departures that it does not know yet: one more than how long that beat would be good if it
 * knew them now. */
byte owed[SLOTS];

/* What it knows of the session. */
#define NOTHING 0
#define CURRENT 1 /* the row says so, too */
#define STALE 2   /* it has adopted the session again and does not know */
#define LEFT 3    /* another has adopted the session since, or it was revoked */
#define TOLD 4    /* and the answer that says so is under way */
#define UNDONE 5  /* and has come before the answer that it undoes */
#define UNNOTED 6 /* as LEFT, but its row was dead by then, so there is no departure to read */
byte keeps[SLOTS];
byte silence[SLOTS]; /* how long, by its service clock, it waits for a sign of life */

/* ------------------------------------------------------------------------------ what is under way */

/* What was done for the session, and what its answer will be worth. */
#define NONE 0
#define ADOPTION 1
#define OPENING 2
#define SWEEP 3
byte asked[SLOTS];
byte reply[SLOTS];

byte late[SLOTS];  /* what was given up, and may yet be done */
bit ending[SLOTS]; /* an END with the row's `moves` is on its way, or will be sent again */

bit reading[SLOTS]; /* the answer to a reading of `departed` is on its way */

#ifdef WEAK_BEAT_FROM_REPLY
#define BEATS_TAKE_TIME
byte beaten[SLOTS]; /* 2: the answer shows departures */
#endif

#ifdef DRAINS
byte settle[SLOTS]; /* how long it would wait, from its last adoption, before it declares itself dead */
#define UNSURE (H + 1) /* an adoption is in doubt */
#endif
/* In the check of progress, a drain waits as if an adoption was in doubt when it began. */
#if defined(DRAINS) && !defined(PROGRESS)
#define Settles(r, ticks) settle[r] = ticks
#else
#define Settles(r, ticks) skip
#endif
#ifdef WEAK_DRAIN_IN_DOUBT
#define Doubts(r) skip
#else
#define Doubts(r) Settles(r, UNSURE)
#endif

#ifdef WEAK_NO_GRACE_FOR_OWN
bit own[SLOTS];
#endif

/* ------------------------------------------------------------------------------------ the client */

/* How long it believes, if each answer reaches it at once. */
byte trust;

/* Its renewals: where they are, and how long an answer can be believed. */
#define NOWHERE SLOTS
byte at[CALLS] = NOWHERE;
byte lasts[CALLS];
bit rides[CALLS]; /* it was there before what its replica has asked */
#ifdef WEAK_LEASE_FROM_REPLY
bit answered;
#endif

#ifdef PROGRESS
/* Its ENDs, which are other statements than its beats, may fail indefinitely. */
#define EndsFail(r) (r == 0 && ends_fail)
bit calm;
bit ends_fail;
byte patience;
byte overdue; /* how long replica 0 beats although its END is due */
#define IsCalm calm
#else
#define EndsFail(r) false
#endif

/* What the database does not do. Until all that is due after an outage is done, there is not the next one. */
#ifdef OUTAGES
#define WRITES 1
#define ALL 2
byte fails;
bit is_steady;
byte idle; /* how long the client need not renew */
#define CanWrite (fails == 0)
#define CanRead (fails != ALL)
#define IsCalm true
#define MayLose (fails != 0)
#else
#define CanWrite true
#define CanRead true
#ifndef PROGRESS
#define IsCalm false
#endif
#define MayLose (!IsCalm)
#endif

#ifdef BREADTH_FIRST
byte i, former;
#else
hidden byte i, former;
#endif

/* What must not be. */
mtype = {
  a_session_is_ended_while_its_client_believes,
  an_answer_can_be_believed_after_the_end,
  a_seat_is_given_to_a_session_that_has_ended,
  a_session_is_ended_although_only_the_database_has_failed,
  the_client_is_gone_and_its_session_does_not_end
};

inline Must(condition, otherwise) {
  if
  :: condition
  :: else -> printf("WRONG: %e\n", otherwise); assert(false)
  fi
}

#define Runs(r) (process[r] == UP || process[r] == DRAINING)
#define Serves(r) (process[r] == UP)
#define RunningNow (Runs(0) + Runs(1) + (SLOTS > 2 && Runs(SLOTS - 1)))

/* Somebody else who watches row r, by whose service clock the time passes. */
#define OtherRuns(o, r) (o != r && Runs(o))
#define IsWatched(r) (OtherRuns(0, r) || OtherRuns(1, r) || (SLOTS > 2 && OtherRuns(SLOTS - 1, r)))

/* ------------------------------------------------------------------------------------ transactions */

/* A row that is dead, whose process is gone, and which is nobody's home changes nothing any more. */
inline ForgetRow(r) {
  if
  :: process[r] == GONE && dead[r] && (session != OPEN || home != r) ->
    process[r] = FREE;
    dead[r] = 0;
    late[r] = NONE;
    ending[r] = 0;
    quiet[r] = 0
  :: else
  fi
}

/* A numbered write of its own row. Others begin again to watch it, and older ones of its writes fail from now on. */
inline WriteRow(r) {
#ifdef WEAK_DEAD_ANY_BEAT
  quiet[r] = (quiet[r] > 0 -> H : 0);
#else
  quiet[r] = H;
#endif
  late[r] = (late[r] == ADOPTION -> NONE : late[r])
}

#ifdef WEAK_END_ANY_MOVES
#define EndIsVoid(r) skip
#define CountsSilence(r) (keeps[r] != NOTHING)
#else
#define EndIsVoid(r) ending[r] = 0
#define CountsSilence(r) (keeps[r] == CURRENT)
#endif

/* What is not current may be forgotten at any time, so its silence need not be counted. */
inline CountOnlyCurrent(r) {
  silence[r] = (CountsSilence(r) -> silence[r] : 0)
}

/* Another replica takes the session from r, or somebody ends it. The departure matters only if r knows the session. */
inline Depart(r) {
  keeps[r] = ((keeps[r] == CURRENT || keeps[r] == STALE) -> (dead[r] -> UNNOTED : LEFT) : keeps[r]);
  reply[r] = ((reply[r] == CURRENT || reply[r] == STALE) -> (dead[r] -> UNNOTED : LEFT) : reply[r]);
  CountOnlyCurrent(r);
  EndIsVoid(r)
}

inline DepartForItself(r) {
  keeps[r] = (keeps[r] == CURRENT -> STALE : keeps[r]);
  reply[r] = (reply[r] == CURRENT -> STALE : reply[r]);
  CountOnlyCurrent(r);
  EndIsVoid(r)
}

#if defined(WEAK_ADOPT_BY_THE_DEAD)
#define MayAdopt(r) (session == OPEN)
#elif defined(WEAK_ADOPT_THE_ENDED)
#define MayAdopt(r) (session != NEW && !dead[r])
#else
#define MayAdopt(r) (session == OPEN && !dead[r])
#endif
#ifdef WEAK_OPEN_BY_THE_DEAD
#define MayOpen(r) (session == NEW)
#else
#define MayOpen(r) (session == NEW && !dead[r])
#endif

inline Adopt(r) {
  printf("the database: replica %d adopts the session from replica %d\n", r, home);
#ifdef WEAK_NO_GRACE_FOR_OWN
  own[r] = (home == r);
#endif
  if
  :: home != r ->
    former = home;
    Depart(former);
    home = r;
    ForgetRow(former);
    former = 0
  :: else -> DepartForItself(r)
  fi;
#ifndef WEAK_ADOPTION_UNNUMBERED
  WriteRow(r)
#endif
}

inline Open(r) {
  printf("the database: replica %d opens the session\n", r);
  session = OPEN;
  home = r
}

inline ApplyLate(r) {
  if
  :: late[r] == ADOPTION && MayAdopt(r) -> late[r] = NONE; Adopt(r)
  :: late[r] == OPENING && MayOpen(r) -> late[r] = NONE; Open(r)
  :: else -> late[r] = NONE
  fi
}

inline ForgetRequests() {
  i = 0;
  do
  :: i < SLOTS -> ending[i] = 0; late[i] = NONE; i++
  :: else -> break
  od;
  i = 0;
  ForgetRow(home)
}

inline End() {
  session = ENDED;
#ifdef OUTAGES
  Must(false, a_session_is_ended_although_only_the_database_has_failed);
#endif
  Must(trust == 0, a_session_is_ended_while_its_client_believes);
  ForgetRequests()
}

inline ApplyEnd(r) {
  ending[r] = 0;
  if
  :: session == OPEN && home == r && !dead[r] ->
    printf("the database: replica %d ends the session after a silence\n", r);
    End()
  :: else
  fi
}

inline Revoke() {
  printf("the database: an operator ends the session\n");
  session = REVOKED;
  believable = H + LEASE;
#ifndef WEAK_QUIET_END
  Depart(home);
#endif
  ForgetRequests()
}

#ifdef WEAK_ORPHANS_AT_ONCE
#define ORPHANED_AFTER 0
#else
#define ORPHANED_AFTER LEASE
#endif
#if defined(WEAK_ADOPT_BY_THE_DEAD) || defined(WEAK_OPEN_BY_THE_DEAD)
#define LateIsVoid(r) skip
#else
#define LateIsVoid(r) late[r] = NONE
#endif

inline DeclareDead(r) {
  dead[r] = 1;
  LateIsVoid(r);
  quiet[r] = ORPHANED_AFTER;
  if
  :: good[r] == 0 && owed[r] <= 1 -> /* it never beats again, so what it keeps it never answers */
    keeps[r] = NOTHING;
    silence[r] = 0;
    owed[r] = 0;
    reading[r] = 0
  :: else
  fi;
  ForgetRow(r)
}

/* --------------------------------------------------------------------------------- at a replica */

inline ForgetCall(k) {
  at[k] = NOWHERE;
  lasts[k] = 0;
  rides[k] = 0
}

inline LetRide(r, whether) {
  i = 0;
  do
  :: i < CALLS -> rides[i] = (at[i] == r -> whether : rides[i]); i++
  :: else -> break
  od;
  i = 0
}

inline Stop(r) {
  process[r] = GONE;
  good[r] = 0;
  owed[r] = 0;
  keeps[r] = NOTHING;
  silence[r] = 0;
  asked[r] = NONE;
  reply[r] = NOTHING;
  reading[r] = 0;
#ifdef BEATS_TAKE_TIME
  beaten[r] = 0;
#endif
#ifdef DRAINS
  settle[r] = 0;
#endif
  i = 0;
  do
  :: i < CALLS ->
    if
    :: at[i] == r -> ForgetCall(i)
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0;
  ForgetRow(r)
}

inline Believe(ticks) {
  trust = (ticks > trust -> ticks : trust)
}

inline Answer(k) {
#ifdef WEAK_LEASE_FROM_REPLY
  printf("replica %d: answers the client\n", at[k]);
  answered = 1;
#else
  printf("replica %d: answers the client, which believes for %d\n", at[k], lasts[k]);
  Must(session == OPEN || (session == REVOKED && lasts[k] <= believable), an_answer_can_be_believed_after_the_end);
  Believe(lasts[k]);
#endif
#ifdef OUTAGES
  idle = IDLE;
#endif
  ForgetCall(k)
}

inline SignOfLife(r) {
  silence[r] = (silence[r] < LEASE -> LEASE : silence[r]);
  CountOnlyCurrent(r)
}

#if defined(WEAK_NO_GRACE)
#define Grace(r) 0
#elif defined(WEAK_NO_GRACE_FOR_OWN)
#define Grace(r) (own[r] -> 0 : H)
#else
#define Grace(r) H
#endif
#ifdef WEAK_ANSWER_ALL_THAT_WAIT
#define WasThere(k) true
#else
#define WasThere(k) rides[k]
#endif

inline AnswerRiders(r) {
  i = 0;
  do
  :: i < CALLS ->
    if
    :: at[i] == r && WasThere(i) -> Answer(i)
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

inline ForgetAsked(r) {
  asked[r] = NONE;
  reply[r] = NOTHING;
  LetRide(r, 0)
}

#ifdef WEAK_UNDONE_ADOPTION
#define IsUndone(r) false
#else
#define IsUndone(r) (reply[r] == UNDONE)
#endif

inline TakeReply(r) {
  if
  :: asked[r] == ADOPTION -> Settles(r, H)
  :: else
  fi;
  if
  :: IsUndone(r) || process[r] == DRAINING
  :: else ->
    printf("replica %d: keeps the session\n", r);
    keeps[r] = reply[r];
    silence[r] = (asked[r] == OPENING -> LEASE : Grace(r) + LEASE);
    CountOnlyCurrent(r);
    if
    :: asked[r] != SWEEP -> AnswerRiders(r)
    :: else
    fi
  fi;
  ForgetAsked(r)
}

inline BecomeGood(r, ticks) {
  printf("replica %d: its beat is good\n", r);
  good[r] = ticks
}

/* Its row has a departure that it does not know, of a session that it keeps, or will keep by an answer under way. */
#define HasLeft(what) (what == LEFT || what == TOLD)
#define Unread(r) (HasLeft(keeps[r]) || HasLeft(reply[r]))

/* The answer shows departures. If some of them are unread, the beat counts only once they are known. */
inline HearOfBeat(r, departures) {
#ifdef DRAINS
  settle[r] = (settle[r] == UNSURE -> H : settle[r]);
#endif
  if
  :: departures ->
    printf("replica %d: its beat shows departures\n", r);
    owed[r] = GOOD + 1;
#ifdef WEAK_BEAT_IGNORES_DEPARTURES
    BecomeGood(r, GOOD)
#endif
  :: else -> BecomeGood(r, GOOD)
  fi
}

#ifdef WEAK_BEAT_FROM_READING
#define Owed(r) GOOD
#else
#define Owed(r) (owed[r] - 1)
#endif

inline ReadDeparted(r) {
  reading[r] = 1;
  keeps[r] = (keeps[r] == LEFT -> TOLD : keeps[r]);
  reply[r] = (reply[r] == LEFT -> TOLD : reply[r])
}

inline HearOfDeparted(r) {
  reading[r] = 0;
  reply[r] = (reply[r] == TOLD -> UNDONE : reply[r]);
  if
  :: keeps[r] == TOLD ->
    printf("replica %d: hears that the session has left it\n", r);
    keeps[r] = NOTHING;
    silence[r] = 0
  :: else
  fi;
  if
  :: Owed(r) > good[r] -> BecomeGood(r, Owed(r))
  :: else
  fi;
  owed[r] = 0
}

#ifdef WEAK_ANSWER_WITHOUT_BEAT
#define IsGood(r) true
#else
#define IsGood(r) (good[r] > 0)
#endif
#ifdef WEAK_BEAT_WHILE_READING
#define KnowsWhatBeatsShowed(r) true
#else
#define KnowsWhatBeatsShowed(r) (owed[r] == 0)
#endif
#ifdef WEAK_SWEEP_KEEPS_THE_ENDING
#define IsEnding(r) false
#else
#define IsEnding(r) ending[r]
#endif
#ifdef WEAK_GRANT_BY_DEPARTURES
#define GrantIsCommitted(r) (!Unread(r))
#else
#define GrantIsCommitted(r) (session == OPEN)
#endif
#ifdef BEATS_TAKE_TIME
#define HasWrite(r) (asked[r] == ADOPTION || beaten[r])
#else
#define HasWrite(r) (asked[r] == ADOPTION)
#endif
/* One write of its own row at a time. */
#define MayWrite(r) (CanWrite && Runs(r) && !dead[r] && !HasWrite(r))
#if !defined(PROGRESS) || defined(WEAK_BEAT_WITH_ENDS_DUE)
#define EndsAreOverdue(r) false
#else
#define EndsAreOverdue(r) (r == 0 && ending[r] && overdue == 0)
#endif
/* In calm times, more than one beat comes within H. After an outage, others may come first. */
#if defined(PROGRESS)
#define BEATS_IN_TIME calm
#elif defined(OUTAGES)
#define BEATS_IN_TIME (is_steady && CanWrite)
#else
#define BEATS_IN_TIME false
#endif
#define BeatsInTime(r) (BEATS_IN_TIME && Runs(r) && good[r] < GOOD && !EndsAreOverdue(r))
#define MayBeat(r) (MayWrite(r) && KnowsWhatBeatsShowed(r) && !EndsAreOverdue(r))
#define NeedsBeat(r) (MayBeat(r) && (good[r] < GOOD || Unread(r)))
#ifdef WEAK_NO_SWEEP
#define SWEEPS false
#else
#define SWEEPS true
#endif
#define MaySweep(r) (SWEEPS && CanRead && Serves(r) && !dead[r] && keeps[r] == NOTHING && asked[r] == NONE && !IsEnding(r) \
  && session == OPEN && home == r)
#define IsSilent(r) (Serves(r) && CountsSilence(r) && silence[r] == 0 && good[r] > 0)

/* If its row is dead, and it does not know, a reading can still make its last beat good. */
#define MayReadDeparted(r) (CanRead && Runs(r) && owed[r] > dead[r] && !reading[r])

#ifdef OUTAGES
/* Not the last one. */
#define MayDie(r) (Runs(r) && Serves(1 - r) && !dead[1 - r])
#define MayStart(r) (CanWrite && process[r] == FREE)
#else
#define MayDie(r) (!IsCalm && Runs(r))
#define MayStart(r) (!IsCalm && process[r] == FREE && RunningNow < RUNNING)
#endif

proctype Beats(byte r) {
  do
#ifdef BEATS_TAKE_TIME
  :: STEP { MayBeat(r) -> WriteRow(r); beaten[r] = 1 + Unread(r);
      printf("the database: replica %d beats\n", r) }
  :: STEP { beaten[r] -> HearOfBeat(r, beaten[r] == 2); beaten[r] = 0 }
#else
  :: STEP { MayBeat(r) && (!IsCalm || NeedsBeat(r)) ->
      printf("the database: replica %d beats\n", r);
      WriteRow(r); HearOfBeat(r, Unread(r)) }
#endif
  /* Also a beat whose answer is lost. */
  :: STEP { !IsCalm && MayWrite(r) -> printf("the database: replica %d adopts another session\n", r);
#ifdef WEAK_ADOPTION_IS_BEAT
      BecomeGood(r, GOOD);
#endif
      WriteRow(r) }

  /* Its beat has shown departures. A reading whose answer is lost is one that begins later. */
#ifdef READ_AT_ONCE
  :: STEP { MayReadDeparted(r) -> ReadDeparted(r); HearOfDeparted(r) }
#else
  :: STEP { MayReadDeparted(r) -> ReadDeparted(r) }
  :: STEP { reading[r] -> HearOfDeparted(r) }
#endif

  /* This incarnation is over. The next one has another row. */
  :: STEP { CanRead && Runs(r) && dead[r] -> printf("replica %d: hears that it is dead, and stops\n", r); Stop(r) }
  :: STEP { MayDie(r) -> printf("replica %d: is killed\n", r); Stop(r) }
  :: STEP { MayStart(r) -> printf("replica %d: starts\n", r); process[r] = UP; quiet[r] = H }
  od
}

proctype Sessions(byte r) {
  do
  :: STEP { asked[r] != NONE -> TakeReply(r) }
  :: STEP { MayLose && asked[r] != NONE ->
      if
      :: asked[r] == ADOPTION -> Doubts(r)
      :: else
      fi;
      ForgetAsked(r) }
  :: STEP { CanWrite && late[r] != NONE -> ApplyLate(r) }
  :: STEP { MaySweep(r) -> printf("replica %d: its sweep finds the session\n", r);
      asked[r] = SWEEP; reply[r] = CURRENT }
  :: STEP { IsSilent(r) -> printf("replica %d: has heard nothing for the lease, and answers no more\n", r);
#ifdef PROGRESS
      overdue = (r == 0 -> H : overdue);
#endif
      ending[r] = (session == OPEN); keeps[r] = NOTHING }
  :: STEP { CanWrite && ending[r] && !EndsFail(r) -> ApplyEnd(r) }
  :: STEP { keeps[r] > CURRENT -> keeps[r] = NOTHING; silence[r] = 0 }
  :: STEP { !IsCalm && Serves(r) && keeps[r] != NOTHING && GrantIsCommitted(r) ->
      Must(session == OPEN, a_seat_is_given_to_a_session_that_has_ended) }
  od
}

#ifdef DRAINS
#ifdef WEAK_DRAIN_AT_ONCE
#define HasSettled(r) true
#else
#define HasSettled(r) (settle[r] == 0)
#endif

/* In calm times not the last one that can end sessions. */
#define MayDrain(r) (process[r] == UP && (!IsCalm || (Serves(1 - r) && !dead[1 - r] && !EndsFail(0))))
#define IsSettled(r) (process[r] == DRAINING && !dead[r] && HasSettled(r) && !HasWrite(r))

proctype Drain(byte r) {
  do
  :: STEP { MayDrain(r) -> printf("replica %d: drains, and answers no more\n", r);
#ifdef PROGRESS
      settle[r] = UNSURE;
#endif
      process[r] = DRAINING; keeps[r] = NOTHING; silence[r] = 0 }
  :: STEP { IsSettled(r) ->
      printf("the database: replica %d declares itself dead\n", r); DeclareDead(r); Stop(r) }
  od
}
#endif

#ifdef WEAK_ORPHAN_ANY_HOME
#define IsHome(r) true
#else
#define IsHome(r) (home == r)
#endif

#define IsQuiet(r) (CanWrite && IsWatched(r) && process[r] != FREE && quiet[r] == 0)
#define MayDeclareDead(r) (IsQuiet(r) && !dead[r] && !BeatsInTime(r))
#define MayEndOrphan(r) (IsQuiet(r) && dead[r] && session == OPEN && !EndsFail(1 - r))

/* What the others do about a row that does not change. */
proctype Watch(byte r) {
  do
  :: STEP { MayDeclareDead(r) ->
      printf("the database: replica %d is declared dead\n", r); DeclareDead(r) }
  :: STEP { MayEndOrphan(r) && IsHome(r) ->
      printf("the database: the session ends as an orphan of replica %d\n", r); End() }
  od
}

/* ------------------------------------------------------------------------------------ the client */

#define Arrives(k) (at[k] != NOWHERE && Serves(at[k]))
#define IsKept(k) (Arrives(k) && keeps[at[k]] != NOTHING)
#define IsUnknown(k) (Arrives(k) && keeps[at[k]] == NOTHING && asked[at[k]] == NONE)
/* The first replica that opens the session is called 0. */
#define OpensBy(k) (IsUnknown(k) && at[k] == 0)
#define AdoptsBy(k) (CanWrite && IsUnknown(k) && MayAdopt(at[k]) && !HasWrite(at[k]))
/* It is lost on its way, or its client waits no longer. */
#ifdef OUTAGES
#define MaySend(k) (at[k] == NOWHERE)
#define MayGiveUp(k) (at[k] != NOWHERE && lasts[k] < TRUST)
#else
#define MaySend(k) (!IsCalm && at[k] == NOWHERE)
#define MayGiveUp(k) (at[k] != NOWHERE)
#endif

inline Ask(k, what) {
  asked[at[k]] = what;
  reply[at[k]] = CURRENT;
  LetRide(at[k], 1)
}

inline Send(k, r) {
  printf("the client: sends a renewal to replica %d\n", r);
  at[k] = r;
  lasts[k] = TRUST
}

#ifdef OUTAGES
/* It was sent before the outage, or during it, and may be done afterwards. */
#define MayGoAstray(k) (!CanWrite && IsUnknown(k))
#else
#define MayGoAstray(k) (!IsCalm && AdoptsBy(k))
#endif

/* A renewal, from when it is sent to when it is answered or given up. */
proctype Renewal(byte k) {
  do
  :: STEP { MaySend(k) && Serves(0) -> Send(k, 0) }
  :: STEP { MaySend(k) && Serves(1) -> Send(k, 1) }
#if SLOTS > 2
  :: STEP { MaySend(k) && Serves(2) -> Send(k, 2) }
#endif
  :: STEP { MayGiveUp(k) -> ForgetCall(k) }
  :: STEP { IsKept(k) && IsGood(at[k]) -> SignOfLife(at[k]); Answer(k) }
  :: STEP { IsKept(k) && !IsGood(at[k]) -> SignOfLife(at[k]) }
  :: STEP { OpensBy(k) && MayOpen(0) -> Open(0); Ask(k, OPENING) }
  :: STEP { OpensBy(k) && !IsCalm && session == NEW && late[0] == NONE -> late[0] = OPENING }
#ifdef WEAK_LEASE_FROM_REPLY
  :: STEP { answered -> answered = 0; Believe(TRUST); printf("the client: is answered, and believes for %d\n", trust) }
#endif
  :: STEP { AdoptsBy(k) -> Adopt(at[k]); Ask(k, ADOPTION) }
  :: STEP { MayGoAstray(k) && late[at[k]] == NONE -> late[at[k]] = ADOPTION; Doubts(at[k]) }
  od
}

#ifdef OPERATOR
proctype Operator() {
  STEP { session == OPEN -> Revoke() }
}
#endif

/* ------------------------------------------------------------------------------------------ time */

inline CountDown(ticks) {
  ticks = (ticks > 0 -> ticks - 1 : 0)
}

#ifdef WEAK_SILENCE_IN_OUTAGES
#define CountsTheSilenceNow(r) true
#else
#define CountsTheSilenceNow(r) (good[r] > 0)
#endif

/* Others watch row r by their service clocks. Without outages, any of them may be quick. */
inline Watching(r) {
#if !defined(OUTAGES)
  CountDown(quiet[r])
#elif defined(WEAK_WATCH_BY_READING)
  if
  :: CanRead -> CountDown(quiet[r])
  :: else -> BeginToWatch(r)
  fi
#else
  if
  :: good[1 - r] > 0 -> CountDown(quiet[r])
  :: else
  fi
#endif
}

/* The service clock of a replica runs only while its beat is good. */
inline PassAt(r) {
  if
  :: CountsTheSilenceNow(r) -> CountDown(silence[r])
  :: else
  fi;
  Watching(r);
  owed[r] = (owed[r] > 1 -> owed[r] - 1 : owed[r]);
#ifdef DRAINS
  settle[r] = ((settle[r] > 0 && settle[r] != UNSURE) -> settle[r] - 1 : settle[r]);
#endif
  skip
}

/* A renewal that nobody can believe any more does nothing that a new one cannot do. */
inline PassFor(k) {
  CountDown(lasts[k]);
  if
  :: lasts[k] == 0 -> ForgetCall(k)
  :: else
  fi
}

/* In calm times, all that is due is done before the next tick. */
#define IsDueAnyway(r) (asked[r] != NONE || (CanWrite && late[r] != NONE) || reading[r] || MayReadDeparted(r) \
  || (CanRead && Runs(r) && dead[r]) || NeedsBeat(r) || IsSilent(r) \
  || (CanWrite && ending[r] && !EndsFail(r) && session == OPEN) || MayDeclareDead(r) || (MayEndOrphan(r) && home == r))

/* Others may have seen a row only just now. */
inline BeginToWatch(r) {
  quiet[r] = (dead[r] -> ORPHANED_AFTER : H)
}

#ifdef OUTAGES
#define IsToBeSent(k) (at[k] == NOWHERE && idle == 0 && (Serves(0) || Serves(1)))
#define IsToBeServed(k) (AdoptsBy(k) || (IsKept(k) && (IsGood(at[k]) || (keeps[at[k]] == CURRENT && silence[at[k]] < LEASE))))
#define CanPass (!IsDueAnyway(0) && !IsDueAnyway(1) && !IsToBeSent(0) && !IsToBeServed(0))

proctype Outages() {
  do
  :: STEP { fails == 0 && is_steady -> fails = WRITES; printf("the database: reads work, and writes do not\n") }
  :: STEP { fails == 0 && is_steady -> fails = ALL; printf("the database: is away\n") }
  :: STEP { fails != 0 -> fails = 0; is_steady = 0; printf("the database: is there again\n") }
  od
}
#endif

#ifdef PROGRESS
#ifdef DRAINS
#define DrainIsDue(r) IsSettled(r)
#else
#define DrainIsDue(r) false
#endif
#define IsDue(r) (IsDueAnyway(r) || DrainIsDue(r) || keeps[r] > CURRENT || MaySweep(r))
#define HasNotEnded (session == NEW || session == OPEN)
#define CanPass (!calm || !HasNotEnded || (!IsDue(0) && !IsDue(1) && at[0] == NOWHERE))
#define Helps(r) (Serves(r) && !dead[r])

/* A drain waits for its next beat, and then for H. Another home's silence may be all but over when it begins. */
#ifdef DRAINS
#define AFTER_A_DRAIN (1 + H + LEASE)
#else
#define AFTER_A_DRAIN 0
#endif

inline BeginCalm(fail) {
  printf("from now on nothing fails, and the client is gone\n");
  calm = 1;
  ends_fail = fail;
  patience = H + LEASE + AFTER_A_DRAIN + fail * (H + H + LEASE);
  BeginToWatch(0);
  BeginToWatch(1)
}

proctype Calm() {
  if
  /* The session may also be opened later, by a Campaign that its client has sent and given up. */
  :: STEP { HasNotEnded && (Helps(0) || Helps(1)) -> BeginCalm(0) }
  :: STEP { session == OPEN && Helps(1) && Runs(0) -> BeginCalm(1); printf("but the ENDs of replica 0, which fail indefinitely\n") }
  fi
}
#endif

#if !defined(OUTAGES) && !defined(PROGRESS)
#define CanPass true
#endif

proctype Clock() {
  do
  :: STEP { CanPass ->
#ifdef PROGRESS
      Must(!calm || session != OPEN || patience > 0, the_client_is_gone_and_its_session_does_not_end);
      CountDown(patience);
      CountDown(overdue);
#endif
#ifdef OUTAGES
      CountDown(idle);
      is_steady = CanWrite;
#endif
      printf("tick\n");
      PassAt(0);
      PassAt(1);
#if SLOTS > 2
      PassAt(2);
      CountDown(good[2]);
#endif
      CountDown(good[0]);
      CountDown(good[1]);
      PassFor(0);
#if CALLS > 1
      PassFor(1);
#endif
      CountDown(trust);
      CountDown(believable) }
  od
}

init {
  d_step {
    process[0] = UP; process[1] = UP; quiet[0] = H; quiet[1] = H;
#ifdef OUTAGES
    session = OPEN; keeps[0] = CURRENT; silence[0] = LEASE; idle = IDLE; is_steady = 1
#endif
  }
  atomic {
    run Beats(0);
    run Beats(1);
    run Sessions(0);
    run Sessions(1);
    run Watch(0);
    run Watch(1);
#if SLOTS > 2
    run Beats(2);
    run Sessions(2);
    run Watch(2);
#endif
#ifdef DRAINS
    run Drain(0);
    run Drain(1);
#endif
    run Renewal(0);
#if CALLS > 1
    run Renewal(1);
#endif
#ifdef OPERATOR
    run Operator();
#endif
#ifdef PROGRESS
    run Calm();
#endif
#ifdef OUTAGES
    run Outages();
#endif
    run Clock()
  }
}

#ifdef SEE_STATEMENTS
/* What the checks are about. Each line has to be reached in one of the runs. */
active proctype Situations() {
  do
  :: STEP { home == 1 && keeps[0] == LEFT && good[0] > 0 && at[0] == 0 ->
      printf("SEEN: a former home answers, and does not know that the session has left it\n") }
  :: STEP { home == 1 && keeps[0] == LEFT && keeps[1] == CURRENT && silence[1] <= LEASE && trust > 0 ->
      printf("SEEN: the client believes a former home, and the new one counts its silence\n") }
  :: STEP { session == OPEN && home == 1 && Serves(1) && keeps[1] == NOTHING && asked[1] == NONE ->
      printf("SEEN: a replica does not know that it is the home\n") }
  :: STEP { session == OPEN && late[1] == ADOPTION && process[1] == GONE ->
      printf("SEEN: the adoption of a replica that is gone is still on its way\n") }
  :: STEP { session == OPEN && dead[home] && trust > 0 ->
      printf("SEEN: the home is dead, and the client believes\n") }
  :: STEP { ending[0] && at[0] == 0 ->
      printf("SEEN: a renewal comes while an END is on its way\n") }
  :: STEP { reply[0] == UNDONE ->
      printf("SEEN: a replica hears first that a session has left it, and then that it had it\n") }
  :: STEP { keeps[0] == STALE && trust > 0 ->
      printf("SEEN: the home has adopted its own session once more, and does not know\n") }
  :: STEP { owed[0] > 1 && good[0] == 0 && keeps[0] == LEFT && at[0] == 0 ->
      printf("SEEN: a former home has beaten, and a renewal waits until departures are read\n") }
#ifndef READ_AT_ONCE
  :: STEP { owed[0] > 1 && good[0] == 0 && reading[0] && keeps[0] == LEFT && home == 1 ->
      printf("SEEN: a session leaves after the reading that makes a beat good, and before its answer\n") }
#endif
#ifdef DRAINS
  :: STEP { settle[1] > 0 && home == 1 && keeps[0] == LEFT && good[0] > 0 ->
      printf("SEEN: a drain waits while the former home of its session answers\n") }
#endif
#ifdef OPERATOR
  :: STEP { session == REVOKED && keeps[0] == LEFT && good[0] > 0 && trust > 0 ->
      printf("SEEN: a home answers for a session that an operator has ended\n") }
#endif
#ifdef PROGRESS
  :: STEP { calm && session == OPEN && dead[home] && process[home] == GONE ->
      printf("SEEN: in calm times, the home is dead, and the client is gone\n") }
  :: STEP { calm && session == OPEN && ends_fail && home == 0 && dead[0] ->
      printf("SEEN: a replica that cannot end its sessions has stopped beating\n") }
  :: STEP { calm && session == OPEN && asked[home] == SWEEP ->
      printf("SEEN: a sweep finds what nobody knew\n") }
  :: STEP { calm && session == NEW && late[0] == OPENING && process[0] == GONE ->
      printf("SEEN: in calm times, a Campaign that was given up is yet to open the session, for a home that is gone\n") }
#ifdef DRAINS
  :: STEP { calm && session == OPEN && process[home] == DRAINING ->
      printf("SEEN: in calm times, a home drains, and the client is gone\n") }
#endif
#endif
#ifdef OUTAGES
  :: STEP { fails == 0 && trust == 0 && at[0] == 1 && home == 0 && keeps[0] == CURRENT ->
      printf("SEEN: after an outage that was longer than the lease, the client is not at its session's home\n") }
  :: STEP { fails != 0 && at[0] == 1 && home == 0 && dead[0] && process[0] == GONE ->
      printf("SEEN: the home has died before the outage, or during it, and its session is not adopted yet\n") }
  :: STEP { dead[0] && process[0] == UP && good[1] > 0 ->
      printf("SEEN: a home that lives is declared dead, since others came first after an outage\n") }
#endif
#if CALLS > 1
  :: STEP { at[0] == 0 && at[1] == 1 && keeps[0] == LEFT && keeps[1] == CURRENT && good[0] > 0 && good[1] > 0 ->
      printf("SEEN: two replicas answer for one session\n") }
#endif
  od
}
#endif
