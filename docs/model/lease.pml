/* The lease and the hand-over: one election, its clients, the service, and the database's clock.
 * README.md says which code each rule stands for, and what is left out. scripts/check-model.py checks it.
 *
 * Every step is atomic: one transaction, one message sent or taken in, or one tick. Steps come in any order.
 * Time is counted down: `left` is what is left of a lease by the database's clock, `trust` what its holder
 * still believes in by its own. So time has no bound. Terms have one, TERMS.
 *
 * -D of the checks:
 *   LEASE=n TRUST=n   how many ticks a lease lasts, and for how many its holder trusts it
 *   ANY_CLOCK         clients' clocks may be as slow as they like
 *   OTHERS            one client in detail, and any number of others that do what they like
 *   MEMORY            one of the replicas also decides from memory
 *   APPLICATION       clients write to tables of an application, under the fence; an operator deposes leaders
 *   PROGRESS          from some moment on, nothing is lost or late
 *   BREADTH_FIRST     for the shortest story
 *   SEE_STATEMENTS    for a report of each statement that is never reached, not only of each step
 * -D of the rules that are made weaker, one at a time: WEAK_... below.
 */

#ifndef LEASE
#define LEASE 4
#define TRUST 3
#endif
#ifndef TERMS
#define TERMS 3
#endif
#ifdef SEE_STATEMENTS
#define STEP atomic
#else
#define STEP d_step
#endif

#define CLIENTS 2
#define NOBODY CLIENTS

#ifdef WEAK_NO_MARGIN
#undef TRUST
#define TRUST LEASE
#endif

/* ---------------------------------------------------------------------- what the database holds */

/* The election's row, and its queue: places count from 1, and 0 is none. */
byte term;
byte leader = NOBODY;
byte place[CLIENTS];

/* One session per client at a time. Its state is written in the row, and ENDED is for ever: the next session of
 * that client is another row, which takes this one's variables when nothing in the tables points to it. */
#define NEW 0
#define OPEN 1
#define ENDED 2
byte session[CLIENTS];
byte left[CLIENTS];

/* How many application transactions hold the row's share lock. */
byte locks;

/* The highest term that was ever granted: for the assertion only. */
byte highest;

#define Alive(c) (session[c] == OPEN && left[c] > 0)
#define Waits(c) (place[c] > 0)
#define Settled(c) (leader != c && !Waits(c))
#define RowIsFree (locks == 0)

/* With OTHERS, client 1 stands for all others that there may be: they act on the tables as they like. */
#ifdef OTHERS
#define IsModelled(c) (c == 0)
#else
#define IsModelled(c) true
#endif

/* -------------------------------------------------------------------------- what a client knows */

#define OUTSIDE 0
#define STANDING 1
#define LEADING 2
#define RESIGNING 3
#define DEAD 4
byte phase[CLIENTS];

#define NO_SESSION 0
#define ASKED 1 /* a Campaign with this request id may have opened it */
#define KNOWN 2
byte has[CLIENTS];

byte held[CLIENTS];   /* the term that it leads or gives up, 0: none */
byte closed[CLIENTS]; /* the last term that is over for it, whatever it is told */
byte trust[CLIENTS];
bit trust_slow[CLIENTS]; /* its clock has lost a tick within this lease */

#define Believes(c) (phase[c] == LEADING && trust[c] > 0)

/* ------------------------------------------------------------------------------ what is under way */

/* The call that renews: a Campaign or a renewal. `promise` is what its answer is worth when it comes. */
#define IDLE 0
#define CAMPAIGN 1
#define RENEWAL 2
#define ANSWERED 3
byte call[CLIENTS];
byte promise[CLIENTS];
bit promise_slow[CLIENTS];

#define NONE 0
#define RENEWED 1
#define IN_QUEUE 2
#define SESSION_OVER 3
#define ELECTED 4 /* in term `answer - ELECTED` */
byte answer[CLIENTS];

/* Used within steps only. */
#ifdef BREADTH_FIRST
byte result, other, each, position, before, slot, who, of_term;
#else
hidden byte result, other, each, position, before, slot, who, of_term;
#endif

/* Messages that are late: a Campaign whose client waits no longer, a resignation that was sent twice, and the news of
 * an election. Each may arrive at any time, or never. This many are on their way at most; others arrive at once or never. */
#ifndef STRAYS
#define STRAYS 1
#endif
#define NO_STRAY 0
#define OLD_CAMPAIGN 1
#define OLD_RESIGNATION 2
#define OLD_NEWS 3
byte stray[STRAYS + 1];
byte stray_client[STRAYS + 1];
byte stray_term[STRAYS + 1];

inline GoAstray(what, c, t) {
#if STRAYS > 0
  slot = 0;
  do
  :: slot < STRAYS && stray[slot] != NO_STRAY -> slot++
  :: else -> break
  od;
  if
  :: slot < STRAYS -> stray[slot] = what; stray_client[slot] = c; stray_term[slot] = t
  :: else
  fi
#else
  skip
#endif
}

inline Drop(i) {
  stray[i] = NO_STRAY;
  stray_client[i] = 0;
  stray_term[i] = 0
}

#ifdef MEMORY
/* One replica remembers an empty seat, for which nobody waited, and the last term. */
bit remembers;
byte remembered_term;
#endif

#ifdef APPLICATION
/* A transaction of each client's application, and what it adds to. */
#define NO_WORK 0
#define BEGUN 1
#define LOOKED 2
#define GUARDED 3
#define HAS_READ 4
#ifndef WRITES
#define WRITES 2
#endif
byte work[CLIENTS];
byte work_term[CLIENTS];
byte seen[CLIENTS];
byte sum;
byte acknowledged;
byte written_term;
#endif

#ifdef PROGRESS
bit calm;
#define IsCalm calm
#else
#define IsCalm false
#endif

/* Why a term ends. */
mtype = { EXPIRED, RESIGNED, DEPOSED };
/* What must not be. */
mtype = {
  two_clients_believe_that_they_lead,
  a_client_believes_that_it_leads_and_does_not,
  a_seat_that_is_taken_is_given_away,
  a_seat_is_given_to_a_session_that_is_over,
  a_term_is_granted_twice,
  the_sum_is_not_what_was_acknowledged,
  a_write_follows_one_of_a_later_term,
  a_write_is_committed_after_its_term
};

inline Must(condition, otherwise) {
  if
  :: condition
  :: else -> printf("WRONG: %e\n", otherwise); assert(false)
  fi
}

/* Where others are not modelled in detail, it has to be enough that the database names the believer. */
inline CheckBeliefs() {
#ifdef ANY_CLOCK
  skip
#else
#ifdef OTHERS
  Must(!Believes(0) || (leader == 0 && term == held[0]), a_client_believes_that_it_leads_and_does_not)
#else
  Must(!(Believes(0) && Believes(1)), two_clients_believe_that_they_lead)
#endif
#endif
}

/* ------------------------------------------------------------------ transactions: the law and the store */

inline MarkIfOver(s) {
  if
#ifndef WEAK_UNMARKED
  :: session[s] == OPEN && left[s] == 0 -> session[s] = ENDED
#endif
  :: else
  fi
}

inline LeaveQueue(s) {
  if
  :: Waits(s) ->
    other = 0;
    do
    :: other < CLIENTS ->
      if
      :: place[other] > place[s] -> place[other]--
      :: else
      fi;
      other++
    :: else -> break
    od;
    other = 0;
    place[s] = 0
  :: else
  fi
}

inline JoinQueue(s) {
  place[s] = 1;
  other = 0;
  do
  :: other < CLIENTS ->
    if
    :: other != s && place[other] >= place[s] -> place[s] = place[other] + 1
    :: else
    fi;
    other++
  :: else -> break
  od;
  other = 0
}

/* The hint. Without it, the client finds out when it reads. */
inline TellOf(s) {
#if STRAYS > 0
  if
  :: IsModelled(s) -> GoAstray(OLD_NEWS, s, term)
  :: else
  fi
#else
  skip
#endif
}

inline Grant(s, next) {
  Must(leader == NOBODY, a_seat_that_is_taken_is_given_away);
  Must(Alive(s), a_seat_is_given_to_a_session_that_is_over);
  term = next;
  Must(term > highest, a_term_is_granted_twice);
  highest = term;
  leader = s;
  LeaveQueue(s);
  TellOf(s);
  printf("the database: client %d is elected, term %d\n", s, term)
}

/* The first in the queue whose session is alive. */
inline Promote() {
  position = 1;
  do
  :: leader == NOBODY && term < TERMS && position <= CLIENTS ->
    each = 0;
    do
    :: each < CLIENTS && place[each] != position -> each++
    :: else -> break
    od;
    if
    :: each == CLIENTS -> break
    :: else -> MarkIfOver(each)
    fi;
    if
#ifdef WEAK_GRANT_TO_THE_DEAD
    :: true -> Grant(each, term + 1)
#else
    :: Alive(each) -> Grant(each, term + 1)
    :: else
#endif
    fi;
    position++
  :: else -> break
  od;
  position = 0;
  each = 0
}

inline Vacate(cause) {
  printf("the database: term %d of client %d is over (%e)\n", term, leader, cause);
  leader = NOBODY;
  CheckBeliefs();
  Promote()
}

/* Every command on the election does this first. */
inline BringInLine() {
  if
  :: leader != NOBODY -> MarkIfOver(leader)
  :: else
  fi;
  if
  :: leader != NOBODY ->
    if
    :: !Alive(leader) -> Vacate(EXPIRED)
    :: else
    fi
  :: leader == NOBODY -> Promote()
  fi
}

inline ApplyCampaign(s) {
  printf("the database: the Campaign of client %d comes in\n", s);
  BringInLine();
  MarkIfOver(s);
  if
  :: session[s] == ENDED -> result = SESSION_OVER
  :: else ->
    session[s] = OPEN;
    left[s] = LEASE;
    if
    :: leader != s && !Waits(s) -> JoinQueue(s)
    :: else
    fi;
    Promote();
    if
    :: leader == s -> result = ELECTED + term
    :: else -> result = IN_QUEUE
    fi
  fi
}

inline ApplyRenewal(s) {
  MarkIfOver(s);
  if
#ifdef WEAK_RENEW_ENDED
  :: session[s] == ENDED -> session[s] = OPEN; left[s] = LEASE; result = RENEWED
#endif
  :: session[s] == OPEN && left[s] > 0 -> left[s] = LEASE; result = RENEWED
  :: else -> result = SESSION_OVER
  fi;
  if
  :: result == RENEWED -> printf("the database: the session of client %d is renewed\n", s)
  :: else -> printf("the database: the session of client %d is over, and not renewed\n", s)
  fi
}

/* The answer is ELECTED if the place, which was to be left, has become the seat. */
inline ApplyResign(s, from) {
  BringInLine();
  MarkIfOver(s);
  result = NONE;
  if
  :: session[s] != OPEN -> LeaveQueue(s)
#ifdef WEAK_RESIGN_ANY_TERM
  :: session[s] == OPEN && leader == s -> Vacate(RESIGNED)
#else
  :: session[s] == OPEN && leader == s && from == term -> Vacate(RESIGNED)
  :: session[s] == OPEN && leader == s && from == 0 -> result = ELECTED + term
  :: session[s] == OPEN && leader == s && from != term && from != 0
#endif
  :: session[s] == OPEN && leader != s && from == 0 -> LeaveQueue(s)
  :: session[s] == OPEN && leader != s && from != 0
  fi
}

/* ------------------------------------------------------------------------------------ the client */

/* Not if its lease is over, or it only wanted to leave the queue: then it gives up the seat. */
inline BeginLeading(c, news) {
  held[c] = news;
  if
  :: phase[c] == RESIGNING && before == 0 /* it is leaving the queue */
  :: else ->
    if
    :: trust[c] > 0 ->
      phase[c] = LEADING;
      printf("client %d: believes that it leads term %d\n", c, news)
    :: else -> phase[c] = RESIGNING
    fi
  fi
}

/* News of a term that it has closed never makes it lead again. */
inline OnElected(c, news) {
  if
  :: news <= held[c]
  :: news > held[c] && news <= closed[c] ->
    if
    :: held[c] == 0 ->
#ifdef WEAK_TERM_OPENS_AGAIN
      before = 1;
      BeginLeading(c, news);
      before = 0
#else
      held[c] = news;
      phase[c] = RESIGNING
#endif
    :: else
    fi
  :: news > held[c] && news > closed[c] ->
    before = held[c];
    if
    :: before > closed[c] -> closed[c] = before
    :: else
    fi;
    BeginLeading(c, news);
    before = 0
  fi
}

inline ForgetCall(c) {
  call[c] = IDLE;
  promise[c] = 0;
  promise_slow[c] = 0;
  answer[c] = NONE
}

inline ForgetSession(c) {
  printf("client %d: hears that its session is over\n", c);
  if
  :: held[c] > closed[c] -> closed[c] = held[c]
  :: else
  fi;
  held[c] = 0;
  has[c] = NO_SESSION;
  trust[c] = 0;
  trust_slow[c] = 0;
  phase[c] = OUTSIDE;
  ForgetCall(c)
}

inline TakeAnswer(c) {
  result = answer[c];
  if
  :: result == SESSION_OVER -> ForgetSession(c)
  :: else ->
    has[c] = KNOWN;
#ifdef WEAK_FROM_REPLY
    trust[c] = TRUST;
    trust_slow[c] = 0;
#else
    if
    :: promise[c] >= trust[c] -> trust[c] = promise[c]; trust_slow[c] = promise_slow[c]
    :: else
    fi;
#endif
    ForgetCall(c);
    printf("client %d: is answered, and trusts its lease for %d\n", c, trust[c]);
    if
    :: result == IN_QUEUE && phase[c] == OUTSIDE -> phase[c] = STANDING
    :: result > ELECTED -> OnElected(c, result - ELECTED)
    :: else
    fi
  fi;
  CheckBeliefs()
}

inline Learn(c, news) {
  printf("client %d: is told that it leads term %d\n", c, news);
  OnElected(c, news);
  CheckBeliefs()
}

#ifdef WEAK_BELIEF_UNTIL_ANSWER
#define BelievesUntilAnswered(c) (phase[c] == LEADING)
#else
#define BelievesUntilAnswered(c) false
#endif

/* The term is over for this client, and it may campaign again. */
inline OnResigned(c, from) {
  if
  :: held[c] == from && (phase[c] == RESIGNING || BelievesUntilAnswered(c)) ->
    printf("client %d: hears that it has resigned\n", c);
    if
    :: from > closed[c] -> closed[c] = from
    :: else
    fi;
    held[c] = 0;
    phase[c] = OUTSIDE
  :: else
  fi
}

/* What is late for a session that is over changes nothing any more. */
inline ForgetStrays(c) {
  slot = 0;
  do
  :: slot < STRAYS ->
    if
    :: stray[slot] != NO_STRAY && stray_client[slot] == c -> Drop(slot)
    :: else
    fi;
    slot++
  :: else -> break
  od
}

/* The last line is for calm times: nothing happens more often than once in a tick, so that time passes. */
#define MayCampaign(c) (call[c] == IDLE \
  && (phase[c] == OUTSIDE || phase[c] == STANDING) \
  && (has[c] != NO_SESSION || (session[c] != OPEN && Settled(c))) \
  && (!IsCalm || phase[c] == OUTSIDE || trust[c] < TRUST || Settled(c)))

inline SendCampaign(c) {
  if
  :: has[c] == NO_SESSION -> /* another request id, and so another session */
    has[c] = ASKED;
    session[c] = NEW;
    left[c] = 0;
    ForgetStrays(c)
  :: else
  fi;
  call[c] = CAMPAIGN;
  promise[c] = TRUST;
  printf("client %d: sends a Campaign\n", c)
}

#define MayRenew(c) (call[c] == IDLE && has[c] == KNOWN && trust[c] < TRUST)

inline SendRenewal(c) {
  call[c] = RENEWAL;
  promise[c] = TRUST;
  printf("client %d: sends a renewal\n", c)
}

/* Without an answer in time, the same is sent again, to another replica. */
inline GiveUpCall(c) {
  printf("client %d: waits no longer for an answer\n", c);
  if
  :: call[c] == CAMPAIGN -> GoAstray(OLD_CAMPAIGN, c, 0)
  :: else
  fi;
  ForgetCall(c)
}

/* From the seat, once its work has ended, or from the queue. */
#define MayLeave(c) (phase[c] == LEADING || (!IsCalm && phase[c] == STANDING))

inline Leave(c) {
  printf("client %d: gives up its seat or place\n", c);
  if
  :: !BelievesUntilAnswered(c) -> phase[c] = RESIGNING
  :: else
  fi
}

/* Whatever it had sent may yet arrive. */
inline Die(c) {
  printf("client %d: is killed\n", c);
  if
  :: call[c] == CAMPAIGN -> GoAstray(OLD_CAMPAIGN, c, 0)
  :: else
  fi;
  ForgetCall(c);
  phase[c] = DEAD;
  has[c] = NO_SESSION;
  held[c] = 0;
  closed[c] = 0;
  trust[c] = 0;
  trust_slow[c] = 0
}

/* A client that is dead begins anew when its session is over: another process, with the same variables. */
proctype Client(byte c) {
  do
  :: STEP { MayCampaign(c) -> SendCampaign(c) }
  :: STEP { MayRenew(c) -> SendRenewal(c) }
  :: STEP { call[c] == ANSWERED -> TakeAnswer(c) }
  :: STEP { MayLeave(c) -> Leave(c) }
  :: STEP { !IsCalm && call[c] != IDLE -> GiveUpCall(c) }
#ifdef PROGRESS
  :: STEP { !IsCalm && phase[c] != DEAD -> Die(c) }
  :: STEP { phase[c] == DEAD && session[c] != OPEN && Settled(c) ->
      phase[c] = OUTSIDE; printf("client %d: starts anew\n", c) }
#endif
  od
}

/* -------------------------------------------------------------------- the service, for one client */

#define MayResign(c) ((phase[c] == RESIGNING || BelievesUntilAnswered(c)) && call[c] != CAMPAIGN && RowIsFree)

inline ServeResign(c) {
  printf("client %d: resigns from term %d\n", c, held[c]);
  ApplyResign(c, held[c])
}

inline HearOfResign(c) {
  if
  :: result <= ELECTED -> OnResigned(c, held[c])
  :: result > ELECTED -> Learn(c, result - ELECTED)
  fi
}

proctype Service(byte c) {
  do
  :: STEP { call[c] == CAMPAIGN && RowIsFree ->
      ApplyCampaign(c); call[c] = ANSWERED; answer[c] = result }
  :: STEP { call[c] == RENEWAL ->
      ApplyRenewal(c); call[c] = ANSWERED; answer[c] = result }

  :: STEP { MayResign(c) -> ServeResign(c); HearOfResign(c) }
  :: STEP { !IsCalm && MayResign(c) -> ServeResign(c); printf("client %d: is not answered\n", c) }
  :: STEP { !IsCalm && MayResign(c) ->
      printf("client %d: sends its resignation twice\n", c);
      GoAstray(OLD_RESIGNATION, c, held[c]); ServeResign(c); HearOfResign(c) }

  /* Expiry: the end of the session is a fact first; then its seat or place is given up. */
  :: STEP { session[c] == OPEN && left[c] == 0 ->
      session[c] = ENDED; printf("the database: the session of client %d has ended\n", c) }
#ifndef WEAK_NOT_SETTLED
  :: STEP { session[c] == ENDED && !Settled(c) && RowIsFree -> BringInLine(); LeaveQueue(c) }
#endif

  /* Renewals and waiting calls also read who leads. */
#ifndef WEAK_ONLY_HINTS
  :: STEP { leader == c && has[c] == KNOWN && held[c] < term -> Learn(c, term) }
#endif
  od
}

inline Come() {
  printf("client 1: campaigns\n");
  BringInLine();
  session[1] = OPEN;
  left[1] = LEASE
}

#if STRAYS > 0
/* A message that is late. */
proctype Stray(byte i) {
  do
  :: STEP { stray[i] == OLD_CAMPAIGN && RowIsFree ->
      printf("the service: an old Campaign of client %d arrives\n", stray_client[i]);
      who = stray_client[i]; Drop(i); ApplyCampaign(who) }
  :: STEP { stray[i] == OLD_RESIGNATION && RowIsFree ->
      printf("the service: an old resignation of client %d from term %d arrives\n", stray_client[i], stray_term[i]);
      who = stray_client[i]; of_term = stray_term[i]; Drop(i); ApplyResign(who, of_term) }
  :: STEP { stray[i] == OLD_NEWS && has[stray_client[i]] == KNOWN ->
      who = stray_client[i]; of_term = stray_term[i]; Drop(i); Learn(who, of_term) }
  :: STEP { stray[i] != NO_STRAY -> Drop(i) }
  od
}
#endif

#ifdef MEMORY
#define NobodyWaits (!Waits(0) && !Waits(1))
#ifdef WEAK_NO_COMPARISON
#define StillHolds (leader == NOBODY && NobodyWaits)
#else
#define StillHolds (term == remembered_term && leader == NOBODY && NobodyWaits)
#endif
#define MayStand(c) (session[c] == NEW || Alive(c))

inline DecideFromMemory(c) {
  if
  :: StillHolds && MayStand(c) ->
    printf("the database: what a replica remembers (term %d) is taken for true\n", remembered_term);
    session[c] = OPEN;
    left[c] = LEASE;
    Grant(c, remembered_term + 1);
    call[c] = ANSWERED;
    answer[c] = ELECTED + term
  :: else -> remembers = 0
  fi
}

/* A replica that decides from what it remembers, however old that is. The database compares. */
proctype RememberingReplica() {
  do
  :: STEP { NobodyWaits && leader == NOBODY && term < TERMS -> remembers = 1; remembered_term = term }
  :: STEP { call[0] == CAMPAIGN && remembers && RowIsFree -> DecideFromMemory(0) }
#ifndef OTHERS
  :: STEP { call[1] == CAMPAIGN && remembers && RowIsFree -> DecideFromMemory(1) }
#endif
  od
}
#endif

#ifdef OTHERS
/* Each step is one of somebody else's. The seat may pass from one of them to another, and whoever comes may have a
 * higher priority than client 0. */
proctype Others() {
  do
  :: STEP { !IsCalm && Settled(1) && RowIsFree -> Come(); JoinQueue(1); Promote() }
  :: STEP { !IsCalm && Settled(1) && Waits(0) && RowIsFree -> Come();
      if
      :: Waits(0) -> place[0] = 2; place[1] = 1
      :: else -> JoinQueue(1)
      fi;
      Promote() }
  :: STEP { !IsCalm && Waits(1) && RowIsFree -> LeaveQueue(1) }
  :: STEP { leader == 1 && RowIsFree -> Vacate(RESIGNED) }
  :: STEP { leader == 1 && term < TERMS && RowIsFree -> leader = NOBODY; Grant(1, term + 1) }
  od
}
#endif

#ifdef APPLICATION
#ifdef WEAK_FENCE_NOT_LOWER
#define Stands(c) (term >= work_term[c] && leader != NOBODY)
#else
#define Stands(c) (term == work_term[c] && leader != NOBODY)
#endif

#define MayBegin(c) (IsModelled(c) -> Believes(c) : leader == c)

inline Lock() {
#ifndef WEAK_FENCE_WITHOUT_LOCK
  locks++
#else
  skip
#endif
}

inline EndWork(c) {
  if
  :: locks > 0 && work[c] >= GUARDED -> locks--
  :: else
  fi;
  work[c] = NO_WORK;
  work_term[c] = 0;
  seen[c] = 0
}

inline Commit(c) {
  sum = seen[c] + 1;
  acknowledged++;
  Must(work_term[c] >= written_term, a_write_follows_one_of_a_later_term);
  written_term = work_term[c];
  printf("the work of client %d: commits %d, in term %d; %d were acknowledged\n", c, sum, work_term[c], acknowledged);
  Must(sum == acknowledged, the_sum_is_not_what_was_acknowledged);
  Must(term == work_term[c], a_write_is_committed_after_its_term);
  EndWork(c)
}

/* Adds one to the sum, in a transaction. It looks at its belief once, and may be paused at any point after that. */
proctype Work(byte c) {
  do
  :: STEP { work[c] == NO_WORK && MayBegin(c) && acknowledged < WRITES ->
      work[c] = BEGUN; work_term[c] = (IsModelled(c) -> held[c] : term);
      printf("the work of client %d: begins, in term %d\n", c, work_term[c]) }
  :: STEP { work[c] == BEGUN && Stands(c) && session[leader] != ENDED -> work[c] = LOOKED }
  :: STEP { work[c] == LOOKED && Stands(c) -> work[c] = GUARDED; Lock();
      printf("the work of client %d: passes the fence\n", c) }
  :: STEP { work[c] == GUARDED -> work[c] = HAS_READ; seen[c] = sum;
      printf("the work of client %d: reads the sum, %d\n", c, sum) }
  :: STEP { work[c] == HAS_READ -> Commit(c) }
  /* It is refused, or its connection breaks. */
  :: STEP { work[c] != NO_WORK -> EndWork(c); printf("the work of client %d: is rolled back\n", c) }
  od
}

/* Ends a term at once, whatever its holder believes. */
proctype Operator() {
  do
  :: STEP { leader != NOBODY && RowIsFree -> BringInLine();
      if
      :: leader != NOBODY -> Vacate(DEPOSED)
      :: else
      fi }
  od
}
#endif

/* ------------------------------------------------------------------------------------------ time */

/* A clock may lose one tick of each lease that it counts: the tenth that is not trusted. */
#ifdef ANY_CLOCK
#define MayLoseATick(c) (trust[c] > 0 || promise[c] > 0)
#else
#define MayLoseATick(c) ((trust[c] > 0 || promise[c] > 0) && !trust_slow[c] && !promise_slow[c])
#endif

inline PassFor(c) {
  if
  :: left[c] > 0 -> left[c]--
  :: else
  fi;
  if
  :: true -> /* it counts the tick */
    if
    :: trust[c] > 0 -> trust[c]--
    :: else
    fi;
    if
    :: promise[c] > 0 -> promise[c]--
    :: else
    fi
  :: MayLoseATick(c) ->
    printf("client %d: its clock loses a tick\n", c);
#ifndef ANY_CLOCK
    trust_slow[c] = (trust[c] > 0);
    promise_slow[c] = (promise[c] > 0)
#endif
  fi;
  if
  :: trust[c] == 0 -> trust_slow[c] = 0
  :: else
  fi;
  if
  :: promise[c] == 0 -> promise_slow[c] = 0
  :: else
  fi;
  if
  :: trust[c] == 0 && phase[c] == LEADING ->
    phase[c] = RESIGNING;
    printf("client %d: stops believing, its lease is over\n", c)
  :: else
  fi
}

inline PassForOthers() {
#ifdef OTHERS
  skip
#else
  PassFor(1)
#endif
}

inline BeginAnew(s) {
  if
  :: session[s] == OPEN -> left[s] = LEASE
  :: else
  fi
}

#ifdef PROGRESS
/* In calm times, all that is due is done before the next tick. */
#ifdef WEAK_ONLY_HINTS
#define IsToBeTold(c) false
#else
#define IsToBeTold(c) (leader == c && has[c] == KNOWN && held[c] < term)
#endif
#ifdef WEAK_NOT_SETTLED
#define IsToBeSettled(c) false
#else
#define IsToBeSettled(c) (session[c] == ENDED && !Settled(c))
#endif
#define SomethingIsDue (call[0] != IDLE || phase[0] == RESIGNING || IsToBeTold(0) || IsToBeSettled(0) \
  || (session[0] == OPEN && left[0] == 0) || MayRenew(0) \
  || (MayCampaign(0) && (phase[0] == OUTSIDE || Settled(0))))
#define TimeMayPass (!calm || !SomethingIsDue)
#else
#define TimeMayPass true
#endif

proctype Clock() {
  do
  :: atomic { TimeMayPass -> printf("tick\n"); PassFor(0); PassForOthers() }
  /* It was set: every lease that has not been ended begins anew. */
  :: STEP { !IsCalm && (session[0] == OPEN || session[1] == OPEN) ->
      printf("the database: its clock is set, and leases begin anew\n");
      BeginAnew(0); BeginAnew(1) }
#ifdef PROGRESS
  :: STEP { !calm -> calm = 1; printf("from now on, nothing is lost or late\n") }
#endif
  od
}

init {
  atomic {
    run Client(0);
    run Service(0);
#ifdef OTHERS
    run Others();
#else
    run Client(1);
    run Service(1);
#endif
#if STRAYS > 0
    run Stray(0);
#endif
#if STRAYS > 1
    run Stray(1);
#endif
#ifdef APPLICATION
    run Work(0);
    run Work(1);
    run Operator();
#endif
#ifdef MEMORY
    run RememberingReplica();
#endif
    run Clock()
  }
}

/* The number of terms is bounded, so what comes after the last one is nobody's promise. */
#define NoTermIsLeft (term == TERMS)

#ifdef WHO_WAITS_LEADS
ltl who_waits_leads {
  []<> (leader != 1 || NoTermIsLeft) -> [] ((calm && phase[0] == STANDING) -> <> (phase[0] == LEADING || NoTermIsLeft))
}
#endif

#ifdef WHO_IS_DEAD_IS_FOLLOWED
ltl who_is_dead_is_followed {
  [] ((calm && phase[0] == DEAD && leader == 0 && Waits(1)) -> <> (leader == 1 || NoTermIsLeft))
}
#endif

#ifdef SEE_STATEMENTS
/* What the checks are about. Each line has to be reached in one of the runs. */
active proctype Situations() {
  do
  :: STEP { Believes(0) && left[0] == 1 ->
      printf("SEEN: a client believes until the last tick before its lease ends\n") }
  :: STEP { trust[0] > 0 && trust_slow[0] && left[0] == 1 ->
      printf("SEEN: a clock has lost the tick that it may lose\n") }
  :: STEP { leader == 0 && has[0] == ASKED && call[0] == IDLE ->
      printf("SEEN: a grant whose answer was lost, also the one that opened the session\n") }
  :: STEP { has[0] == KNOWN && call[0] == ANSWERED && answer[0] == RENEWED && promise[0] == 0 ->
      printf("SEEN: an answer to a renewal comes after all that it promises is over\n") }
  :: STEP { phase[0] == RESIGNING && held[0] > 0 && leader == 1 && term > held[0] ->
      printf("SEEN: somebody else leads already when a client is not sure that it has resigned\n") }
  :: STEP { phase[0] == RESIGNING && held[0] == 0 && leader == 0 ->
      printf("SEEN: a client leaves the queue and does not know that it has been elected\n") }
  :: STEP { phase[0] == STANDING && session[0] == ENDED && Settled(0) && leader == 1 ->
      printf("SEEN: a session has ended, and its client does not know\n") }
  :: STEP { session[0] == ENDED && leader == 0 ->
      printf("SEEN: a session has ended, and its seat is not given up yet\n") }
  :: STEP { Believes(0) && term > 1 && Waits(1) ->
      printf("SEEN: a client believes in a later term while another waits\n") }
#if STRAYS > 0
  :: STEP { stray[0] == OLD_NEWS && stray_client[0] == 0 && stray_term[0] <= closed[0] ->
      printf("SEEN: the news of an election comes after its term\n") }
  :: STEP { stray[0] == OLD_RESIGNATION && stray_client[0] == 0 && leader == 0 && stray_term[0] < term && Believes(0) ->
      printf("SEEN: an old resignation arrives when its client leads again\n") }
  :: STEP { stray[0] == OLD_CAMPAIGN && phase[0] == OUTSIDE && Settled(0) ->
      printf("SEEN: an old Campaign puts a client back that has left\n") }
#endif
#ifdef MEMORY
  :: STEP { remembers && remembered_term < term && leader == NOBODY && call[0] == CAMPAIGN ->
      printf("SEEN: a replica remembers an empty seat from before a term that is over as well\n") }
  :: STEP { remembers && remembered_term == term && leader == NOBODY && call[0] == CAMPAIGN ->
      printf("SEEN: what a replica remembers is right\n") }
#endif
#ifdef ANY_CLOCK
  :: STEP { Believes(0) && leader == 1 ->
      printf("SEEN: with clocks that are wrong, a client believes while another leads\n") }
#endif
#ifdef APPLICATION
  :: STEP { work[0] == HAS_READ && Waits(1) && left[0] == 0 ->
      printf("SEEN: the successor waits for a transaction under the fence\n") }
  :: STEP { work[0] == LOOKED && term > work_term[0] && work[1] == HAS_READ ->
      printf("SEEN: a term ends between the first look and the lock, and its successor is at work\n") }
  :: STEP { acknowledged == WRITES && written_term > 1 ->
      printf("SEEN: the sum has writes of two terms\n") }
#endif
#ifdef PROGRESS
  :: STEP { calm && phase[0] == STANDING && leader == 1 && !NoTermIsLeft ->
      printf("SEEN: in calm times, a client waits\n") }
  :: STEP { calm && phase[0] == LEADING && term > 1 && !NoTermIsLeft ->
      printf("SEEN: in calm times, a client leads after another\n") }
  :: STEP { calm && phase[0] == DEAD && leader == 0 && left[0] > 0 && Waits(1) && !NoTermIsLeft ->
      printf("SEEN: in calm times, the dead lead while their lease lasts\n") }
  :: STEP { calm && phase[0] == DEAD && leader == 1 && !NoTermIsLeft ->
      printf("SEEN: in calm times, the dead are followed\n") }
#endif
  od
}
#endif
