/* History: the database loses commits, and goes back to an earlier state. Who notices, what may be granted, answered and
 * shown until then, and how the service begins again. Two replicas, one election, and at each replica one client.
 * README.md says which code each rule stands for, and what is left out. scripts/check-model.py checks it.
 *
 * Every step is atomic: one transaction, one event at a replica, or one tick. Steps come in any order. How a session
 * lives and moves is in homes.pml: here it stays at its home, and ends only once its client believes no more.
 *
 * A position of the history is the number of its events: a term that is granted, a seat that is vacated. Two histories
 * may have the same positions and differ.
 *
 * -D of the checks:
 *   H=n LEASE=n       how many ticks a beat is good for, but one, and how many a lease lasts
 *   TERMS=n LOSSES=n  how many terms there are, and how often the database goes back
 *   ALL_REMEMBER      each replica remembers something that is lost; otherwise at least one does
 *   READS             somebody asks who leads
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
#ifndef TERMS
#define TERMS 2
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifdef SEE_STATEMENTS
#define STEP atomic
#else
#define STEP d_step
#endif

/* A countdown of n ticks ends within its n-th: see homes.pml. */
#define GOOD (H + 1)
#ifdef WEAK_RAISED_AFTER_A_LEASE
#define RAISED_AFTER LEASE
#else
#define RAISED_AFTER (H + LEASE)
#endif

/* ---------------------------------------------------------------------- what the database holds */

/* The beat of a home's row, as its replica would see it. */
#define BEHIND 0 /* lower than the last acknowledged one, or the row is missing */
#define ACKNOWLEDGED 1
#define IN_DOUBT 2
#define UNDER_WAY 3 /* it has the number of the write whose answer is under way */

/* A session: the client and the replica that it is at have the same number. */
#define NONE 0
#define OPEN 1
#define ENDED 2 /* and not settled: the seat is not given up yet */

#define NOBODY 2

typedef Rows {
  byte term;
  byte leader;
  byte session[2];
  byte beat[2];
  byte epoch;
  bit is_lost /* nothing is granted until all terms have been raised */
};
Rows db;
Rows old; /* the state that it will go back to */
bit has_old;
byte losses;

#define PositionOf(rows) (2 * rows.term - (rows.leader != NOBODY))

/* Of all terms ever granted, and of all epochs: the numbers of these are random, so no two are equal. */
byte highest;
byte epochs;
bit is_raised; /* all terms since the last loss */

/* ------------------------------------------------------------------------ what a replica knows */

bit begun[2];      /* its incarnation */
bit went_back[2];  /* its row has shown it */
byte epoch[2];
byte seen[2];      /* the position */
byte good[2];      /* how long its beat is good */
bit writing[2];    /* a beat is under way, */
byte worth[2];     /* and will be good for this long, */
bit fits[2];       /* if what it has read is what its replica knows */
bit keeps[2];
byte patience[2];  /* before it raises the terms */
#ifdef READS
byte remembered[2]; /* who leads at the position that it has seen */
#endif

/* ------------------------------------------------------------------------------------ clients */

byte held[2];  /* the term that it leads; when its lease is over, it stops, and goes on if it is answered before it gives up */
byte trust[2]; /* for how long it believes that */
#define Believes(c) (held[c] > 0 && trust[c] > 0)

#ifdef READS
#define IDLE 2
byte asks = IDLE;  /* the replica that is asked who leads */
byte told;         /* the position that somebody has heard of */
byte told_before;  /* when the question was asked, */
bit ended_before[2]; /* and whose session had ended */
#endif

/* What must not be. */
mtype = {
  a_term_is_granted_twice,
  a_loss_is_noticed_that_there_was_not,
  terms_are_raised_while_a_client_believes,
  a_client_believes_that_it_leads_and_does_not,
  somebody_reads_less_than_was_known_before,
  somebody_reads_of_a_leader_whose_session_had_ended
};

inline Must(condition, otherwise) {
  if
  :: condition
  :: else -> printf("WRONG: %e\n", otherwise); assert(false)
  fi
}

#define IsRight(c) (!Believes(c) || (db.leader == c && db.term == held[c]))
inline CheckBeliefs() {
  Must(!is_raised || (IsRight(0) && IsRight(1)), a_client_believes_that_it_leads_and_does_not)
}

/* --------------------------------------------------------------------------- what is compared */

#ifdef WEAK_NO_WITNESS
#define RowStands(r) true
#else
#define RowStands(r) (db.beat[r] != BEHIND)
#endif
#define Fits(r) (!db.is_lost && db.epoch == epoch[r] && PositionOf(db) >= seen[r])
#define MayCommit(r) (begun[r] && !went_back[r] && RowStands(r) && Fits(r))

#ifdef READS
inline HearOf(position) {
  told = (position > told -> position : told)
}
#else
#define HearOf(position) skip
#endif

inline See(r) {
  seen[r] = PositionOf(db);
#ifdef READS
  remembered[r] = db.leader;
#endif
  HearOf(seen[r])
}

/* ------------------------------------------------------------------------- the election, and sessions */

inline Grant(r) {
#ifdef READS
  ended_before[r] = (db.session[r] == OPEN && ended_before[r]); /* another session begins */
#endif
  db.session[r] = OPEN;
  db.term++;
  db.leader = r;
  printf("replica %d: client %d is elected, term %d\n", r, r, db.term);
#if defined(ALL_REMEMBER) || defined(WEAK_SHORT_LOSS)
  Must(db.term > highest, a_term_is_granted_twice);
#endif
  highest = (db.term > highest -> db.term : highest);
  See(r)
}

inline Answer(r) {
  keeps[r] = 1;
  held[r] = db.term;
  trust[r] = LEASE;
  CheckBeliefs()
}

inline Renew(r) {
  printf("replica %d: answers client %d, which believes for %d\n", r, r, LEASE);
  trust[r] = LEASE;
  CheckBeliefs()
}

inline End(r) {
  printf("replica %d: the session of client %d has ended\n", r, r);
  db.session[r] = ENDED;
  keeps[r] = 0
}

inline Settle(r) {
  printf("replica %d: term %d of client %d is over\n", r, db.term, db.leader);
  db.session[db.leader] = NONE;
  db.leader = NOBODY;
  See(r)
}

#define MayGrant(r) (MayCommit(r) && db.leader == NOBODY && db.term < TERMS && db.session[r] != ENDED)

proctype Elections(byte r) {
  do
  :: STEP { MayGrant(r) -> Grant(r); Answer(r) }
  :: STEP { MayGrant(r) -> Grant(r); printf("client %d: is not answered\n", r) }
  :: STEP { begun[r] && keeps[r] && good[r] > 0 && held[r] > 0 -> Renew(r) }
  :: STEP { held[r] > 0 && trust[r] == 0 -> held[r] = 0; printf("client %d: gives up its term\n", r) }
  /* Without events: no position is compared. */
  :: STEP { begun[r] && !went_back[r] && RowStands(r) && db.session[r] == OPEN && !Believes(r) -> End(r) }
  :: STEP { MayCommit(r) && db.leader != NOBODY && db.session[db.leader] == ENDED -> Settle(r) }
  :: STEP { begun[r] && Fits(r) && seen[r] < PositionOf(db) -> See(r) }
  od
}

/* ----------------------------------------------------------------------------------- the own row */

/* A write is made: the last one before it, if it was not acknowledged, stays in doubt. */
inline WriteRow(r) {
  old.beat[r] = (old.beat[r] == UNDER_WAY -> IN_DOUBT : old.beat[r]);
  db.beat[r] = UNDER_WAY;
  writing[r] = 1;
  worth[r] = GOOD;
  fits[r] = Fits(r)
}

inline Acknowledge(r) {
  db.beat[r] = (db.beat[r] == UNDER_WAY -> ACKNOWLEDGED : BEHIND);
  old.beat[r] = (old.beat[r] == UNDER_WAY -> ACKNOWLEDGED : BEHIND)
}

inline ForgetBeat(r) {
  writing[r] = 0;
  worth[r] = 0;
  fits[r] = 0
}

inline HearOfBeat(r) {
  Acknowledge(r);
  if
  :: fits[r] ->
    printf("replica %d: its beat is good\n", r);
    good[r] = (worth[r] > good[r] -> worth[r] : good[r])
  :: else
  fi;
  ForgetBeat(r)
}

inline EndIncarnation(r) {
  begun[r] = 0;
  keeps[r] = 0;
  good[r] = 0;
  ForgetBeat(r)
}

#if defined(WEAK_BEAT_ANY_ROW)
#define BeatIsMade(r) true
#elif defined(WEAK_DOUBT_IS_LOSS)
#define BeatIsMade(r) (db.beat[r] == ACKNOWLEDGED)
#else
#define BeatIsMade(r) (db.beat[r] != BEHIND)
#endif

proctype Beats(byte r) {
  do
  :: STEP { begun[r] && !went_back[r] && !writing[r] && BeatIsMade(r) ->
      printf("the database: replica %d beats\n", r); WriteRow(r) }
  :: STEP { begun[r] && !went_back[r] && !writing[r] && !BeatIsMade(r) ->
      printf("replica %d: its row has gone back\n", r); went_back[r] = 1; EndIncarnation(r);
      Must(losses > 0, a_loss_is_noticed_that_there_was_not) }
  :: STEP { writing[r] -> HearOfBeat(r) }
  :: STEP { writing[r] -> printf("replica %d: hears nothing of its beat\n", r); ForgetBeat(r) }
  od
}

/* ----------------------------------------------------------------------------------- the lineage */

inline NextEpoch(lost) {
  epochs++;
  db.epoch = epochs;
  db.is_lost = lost
}

inline EndIncarnationAfterLoss(r) {
#ifdef WEAK_INCARNATION_GOES_ON
  skip
#else
  EndIncarnation(r)
#endif
}

#define Contradicts(r) (went_back[r] || db.epoch < epoch[r] || (db.epoch == epoch[r] && PositionOf(db) < seen[r]))

inline Join(r) {
  if
  :: !db.is_lost && db.epoch > epoch[r] -> See(r) /* all terms have been raised since */
  :: !db.is_lost && db.epoch <= epoch[r] ->
    if
    :: Contradicts(r) -> printf("replica %d: the database has lost commits\n", r); NextEpoch(1)
    :: else
    fi
  :: db.is_lost
  fi;
  if
  :: db.is_lost -> patience[r] = RAISED_AFTER
  :: else
  fi;
  epoch[r] = db.epoch;
  went_back[r] = 0;
  EndIncarnationAfterLoss(r)
}

/* Those of sessions that there are hear of it by a departure. */
inline EndSession(c) {
  keeps[c] = (db.session[c] == OPEN -> 0 : keeps[c]);
  db.session[c] = NONE
}

inline RaiseTerms(r) {
  printf("replica %d: raises all terms above %d\n", r, highest);
  Must(!Believes(0) && !Believes(1), terms_are_raised_while_a_client_believes);
  EndSession(0);
  EndSession(1);
  db.term = highest;
  db.leader = NOBODY;
  NextEpoch(0);
  is_raised = 1;
  epoch[r] = db.epoch;
  See(r);
  CheckBeliefs()
}

inline Begin(r) {
  printf("replica %d: begins again\n", r);
  begun[r] = 1;
  db.beat[r] = ACKNOWLEDGED;
  old.beat[r] = BEHIND
}

proctype History(byte r) {
  do
  :: STEP { went_back[r] || (db.epoch != epoch[r] || PositionOf(db) < seen[r]) -> Join(r) }
  :: STEP { db.is_lost && epoch[r] == db.epoch && patience[r] == 0 -> RaiseTerms(r) }
  :: STEP { !begun[r] && !went_back[r] && Fits(r) -> Begin(r) }
  od
}

/* -------------------------------------------------------------------------- the database, and time */

#define RemembersMore(r) ((begun[r] && old.beat[r] == BEHIND) || old.epoch < epoch[r])
#if defined(WEAK_SHORT_LOSS)
#define MayGoBack true
#elif defined(ALL_REMEMBER)
#define MayGoBack (RemembersMore(0) && RemembersMore(1))
#else
#define MayGoBack (RemembersMore(0) || RemembersMore(1))
#endif

inline Copy(from, to) {
  to.term = from.term;
  to.leader = from.leader;
  to.session[0] = from.session[0];
  to.session[1] = from.session[1];
  to.beat[0] = from.beat[0];
  to.beat[1] = from.beat[1];
  to.epoch = from.epoch;
  to.is_lost = from.is_lost
}

inline ForgetOld() {
  has_old = 0;
  old.term = 0;
  old.leader = NOBODY;
  old.session[0] = NONE;
  old.session[1] = NONE;
  old.beat[0] = BEHIND;
  old.beat[1] = BEHIND;
  old.epoch = 0;
  old.is_lost = 0
}

inline CountDown(ticks) {
  ticks = (ticks > 0 -> ticks - 1 : 0)
}

inline PassAt(r) {
  CountDown(good[r]);
  CountDown(worth[r]);
  CountDown(patience[r]);
  CountDown(trust[r])
}

proctype Database() {
  do
  :: STEP { !has_old && losses < LOSSES && !db.is_lost -> Copy(db, old); has_old = 1;
      printf("the database: this state will come back\n") }
  :: STEP { has_old && MayGoBack -> printf("the database: goes back\n");
      Copy(old, db); ForgetOld(); losses++; is_raised = 0 }
  :: STEP { true -> printf("tick\n"); PassAt(0); PassAt(1) }
  od
}

/* ------------------------------------------------------------------------------------ questions */

#ifdef READS
#ifdef WEAK_READ_BY_OFFSETS
#define NobodyHasEnded true
#else
#define NobodyHasEnded (db.session[0] != ENDED && db.session[1] != ENDED)
#endif
#ifdef WEAK_READ_WITHOUT_OWN_ROW
#define ReadMayAnswer(r) (begun[r] && Fits(r))
#else
#define ReadMayAnswer(r) (begun[r] && db.beat[r] != BEHIND && Fits(r))
#endif

inline ForgetQuestion() {
  asks = IDLE;
  told_before = 0;
  ended_before[0] = 0;
  ended_before[1] = 0
}

inline Show(whom) {
  if
  :: whom == NOBODY -> printf("a reader: hears that nobody leads\n")
  :: else -> printf("a reader: hears that client %d leads\n", whom)
  fi;
  Must(PositionOf(db) >= told_before, somebody_reads_less_than_was_known_before);
  Must(whom == NOBODY || !ended_before[whom], somebody_reads_of_a_leader_whose_session_had_ended);
  HearOf(PositionOf(db));
  ForgetQuestion()
}

inline AskWhoLeads(r) {
  printf("a reader: asks replica %d who leads\n", r);
  asks = r;
  told_before = told;
  ended_before[0] = (db.session[0] == ENDED);
  ended_before[1] = (db.session[1] == ENDED)
}

proctype Reader() {
  do
  :: STEP { asks == IDLE -> AskWhoLeads(0) }
  :: STEP { asks == IDLE -> AskWhoLeads(1) }
  /* From memory, if nothing has happened since; otherwise the rows are read. */
  :: STEP { asks != IDLE && ReadMayAnswer(asks) && NobodyHasEnded && seen[asks] == PositionOf(db) -> Show(remembered[asks]) }
  :: STEP { asks != IDLE && ReadMayAnswer(asks) && NobodyHasEnded && seen[asks] < PositionOf(db) -> Show(db.leader) }
  :: STEP { asks != IDLE -> ForgetQuestion() }
  od
}
#endif

init {
  d_step {
    db.leader = NOBODY;
    begun[0] = 1;
    begun[1] = 1;
    db.beat[0] = ACKNOWLEDGED;
    db.beat[1] = ACKNOWLEDGED;
#ifdef READS
    remembered[0] = NOBODY;
    remembered[1] = NOBODY;
#endif
    ForgetOld()
  }
  atomic {
    run Elections(0);
    run Elections(1);
    run Beats(0);
    run Beats(1);
    run History(0);
    run History(1);
#ifdef READS
    run Reader();
#endif
    run Database()
  }
}

#ifdef SEE_STATEMENTS
/* What the checks are about. Each line has to be reached in one of the runs. */
active proctype Situations() {
  do
  :: STEP { db.is_lost && epoch[0] != db.epoch && good[0] > 0 && keeps[0] && held[0] > 0 ->
      printf("SEEN: a home answers, and does not know that another has noticed a loss\n") }
  :: STEP { losses > 0 && writing[0] && worth[0] > 0 && fits[0] && db.beat[0] != UNDER_WAY ->
      printf("SEEN: the database goes back while the answer to a beat is under way\n") }
  :: STEP { begun[0] && keeps[0] && held[0] > 0 && db.session[0] == NONE ->
      printf("SEEN: a home keeps a session whose row is lost\n") }
  :: STEP { Believes(0) && Believes(1) && held[0] == held[1] && begun[0] && begun[1] ->
      printf("SEEN: one home remembers a term that is lost, and another has granted it again\n") }
  :: STEP { is_raised && begun[0] && epoch[0] < db.epoch && db.leader == 1 ->
      printf("SEEN: a home has slept through a loss, its repair, and the first grant after it\n") }
  :: STEP { losses > 0 && is_raised && Believes(0) && old.epoch == 0 ->
      printf("SEEN: somebody leads after the repair\n") }
#ifdef READS
  :: STEP { asks != IDLE && db.leader != NOBODY && db.session[db.leader] == ENDED && seen[asks] == PositionOf(db) ->
      printf("SEEN: somebody asks between the end of a session and that of its term\n") }
  :: STEP { asks == 0 && db.beat[0] == BEHIND && begun[0] && Fits(0) && told_before > PositionOf(db) ->
      printf("SEEN: somebody asks a home whose row shows that commits were lost, and whose offsets do not\n") }
#endif
  od
}
#endif
