/* The hand-over: one election, its clients, the service, and the fence of an application.
 * README.md says which code each rule stands for, and what is left out. scripts/check-model.py checks it.
 *
 * Every step is atomic: one transaction, or one message sent or taken in. Steps come in any order. There is no time:
 * a client may stop trusting its lease at any moment, and a session ends at any moment at which homes.pml lets it, when
 * its client trusts it no more, and no answer that it could trust is under way. Terms have a bound, TERMS.
 *
 * -D of the checks:
 *   ANY_END           sessions end, and operators depose leaders, whatever clients believe
 *   OTHERS            one client in detail, and any number of others that do what they like
 *   MEMORY            one of the replicas also decides from memory
 *   APPLICATION       clients write to tables of an application, under the fence
 *   PROGRESS          from some moment on, nothing is lost or late
 *   BREADTH_FIRST     for the shortest story
 *   SEE_STATEMENTS    for a report of each statement that is never reached, not only of each step
 * -D of the rules that are made weaker, one at a time: WEAK_... below.
 */

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

/* ---------------------------------------------------------------------- what the database holds */

/* The election's row, and its queue: places count from 1, and 0 is none. */
byte term;
byte leader = NOBODY;
byte place[CLIENTS];

/* One session per client at a time. Its state is written in the row, and ENDED is final: the next session of
 * that client is another row, which takes this one's variables when nothing in the tables points to it. */
#define NEW 0
#define OPEN 1
#define ENDED 2
byte session[CLIENTS];

/* How many application transactions hold the row's share lock. */
byte locks;

/* The highest term that was ever granted: for the assertion only. */
byte highest;

#define Alive(c) (session[c] == OPEN)
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
#define RETAKING 3 /* its lease was over, and it wants the next term of its own seat */
#define RESIGNING 4
#define DEAD 5
byte phase[CLIENTS];

#define NO_SESSION 0
#define ASKED 1 /* a Campaign with this request id may have opened it */
#define KNOWN 2
byte has[CLIENTS];

byte held[CLIENTS];   /* the term that it leads or gives up, 0: none */
byte closed[CLIENTS]; /* the last term that is over for it, whatever it hears */
bit trusts[CLIENTS];  /* its lease */

#define Believes(c) (phase[c] == LEADING && trusts[c])

/* ------------------------------------------------------------------------------ what is under way */

/* The call that renews: a Campaign or a renewal. */
#define IDLE 0
#define CAMPAIGN 1
#define RENEWAL 2
#define ANSWERED 3
byte call[CLIENTS];
byte after[CLIENTS];   /* the term of its own that the Campaign is to end */
bit promises[CLIENTS]; /* when its answer comes, the lease can be trusted */

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
bit has_renewed; /* in this round */
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
#ifdef ANY_END
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
    :: else
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

inline EndTerm(cause) {
  printf("the database: term %d of client %d is over (%e)\n", term, leader, cause);
  leader = NOBODY;
  CheckBeliefs()
}

inline Vacate(cause) {
  EndTerm(cause);
  Promote()
}

/* Every command on the election does this first. */
inline BringInLine() {
  if
  :: leader != NOBODY ->
    if
    :: !Alive(leader) -> Vacate(EXPIRED)
    :: else
    fi
  :: leader == NOBODY -> Promote()
  fi
}

#ifdef WEAK_RETAKE_ANY_TERM
#define Retakes(s, ended) (leader == s && ended > 0)
#else
#define Retakes(s, ended) (leader == s && ended > 0 && ended == term)
#endif

/* `ended`: the term that it leads in the table, and believes in no more. 0: none. */
inline ApplyCampaign(s, ended) {
  printf("the database: the Campaign of client %d comes in\n", s);
  BringInLine();
  if
  :: session[s] == ENDED -> result = SESSION_OVER
  :: else ->
    session[s] = OPEN;
    if
    :: Retakes(s, ended) ->
      EndTerm(RESIGNED);
      if
      :: term < TERMS -> Grant(s, term + 1)
      :: else
      fi
    :: else
    fi;
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
  if
  :: session[s] == OPEN -> result = RENEWED; printf("the service: the session of client %d is renewed\n", s)
  :: else -> result = SESSION_OVER; printf("the service: the session of client %d is over, and not renewed\n", s)
  fi
}

/* The answer is ELECTED if the place, which was to be left, has become the seat. */
inline ApplyResign(s, from) {
  BringInLine();
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
    :: trusts[c] ->
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
  after[c] = 0;
  promises[c] = 0;
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
  trusts[c] = 0;
  phase[c] = OUTSIDE;
  ForgetCall(c)
}

inline TakeAnswer(c) {
  result = answer[c];
  if
  :: result == SESSION_OVER -> ForgetSession(c)
  :: else ->
    has[c] = KNOWN;
    trusts[c] = (trusts[c] || promises[c]);
    if
    :: result == IN_QUEUE && phase[c] == OUTSIDE -> phase[c] = STANDING
    :: result == IN_QUEUE && phase[c] == RETAKING && after[c] == held[c] -> held[c] = 0; phase[c] = STANDING
    :: else
    fi;
    ForgetCall(c);
    printf("client %d: is answered\n", c);
    if
    :: result > ELECTED -> OnElected(c, result - ELECTED)
    :: else
    fi
  fi;
  CheckBeliefs()
}

inline Learn(c, news) {
  printf("client %d: hears that it leads term %d\n", c, news);
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

#ifdef PROGRESS
/* Nothing happens more often than once in a round, so that rounds pass. */
#define MayCampaignNow(c) (!IsCalm || phase[c] == OUTSIDE || phase[c] == RETAKING || !has_renewed || Settled(c))
#define MayRenewNow (!IsCalm || !has_renewed)
#else
#define MayCampaignNow(c) true
#define MayRenewNow true
#endif
#define MayCampaign(c) (call[c] == IDLE && MayCampaignNow(c) \
  && (phase[c] == OUTSIDE || phase[c] == STANDING || phase[c] == RETAKING) \
  && (has[c] != NO_SESSION || (session[c] != OPEN && Settled(c))))

inline HasSent() {
#ifdef PROGRESS
  has_renewed = calm
#else
  skip
#endif
}

inline SendCampaign(c) {
  if
  :: has[c] == NO_SESSION -> /* another request id, and so another session */
    has[c] = ASKED;
    session[c] = NEW;
    ForgetStrays(c)
  :: else
  fi;
  call[c] = CAMPAIGN;
  promises[c] = 1;
  after[c] = (phase[c] == RETAKING -> held[c] : 0);
  if
  :: after[c] > 0 -> printf("client %d: asks for the term after %d\n", c, after[c])
  :: else -> printf("client %d: sends a Campaign\n", c)
  fi;
  HasSent()
}

#define MayRenew(c) (call[c] == IDLE && has[c] == KNOWN && MayRenewNow)

inline SendRenewal(c) {
  call[c] = RENEWAL;
  promises[c] = 1;
  printf("client %d: sends a renewal\n", c);
  HasSent()
}

/* Without an answer in time, the same is sent again, to another replica. */
inline GiveUpCall(c) {
  printf("client %d: waits no longer for an answer\n", c);
  if
  :: call[c] == CAMPAIGN -> GoAstray(OLD_CAMPAIGN, c, after[c])
  :: else
  fi;
  ForgetCall(c)
}

/* The belief in a term ends for good. A client that wants to lead on asks for the next one. */
inline StopTrusting(c) {
  trusts[c] = 0;
  printf("client %d: its lease is over\n", c);
  if
  :: phase[c] == LEADING -> phase[c] = RETAKING; closed[c] = (held[c] > closed[c] -> held[c] : closed[c])
  :: else
  fi
}

/* From the seat, once its work has ended, or from the queue. */
#define MayLeave(c) (phase[c] == LEADING || phase[c] == RETAKING || (!IsCalm && phase[c] == STANDING))

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
  :: call[c] == CAMPAIGN -> GoAstray(OLD_CAMPAIGN, c, after[c])
  :: else
  fi;
  ForgetCall(c);
  phase[c] = DEAD;
  has[c] = NO_SESSION;
  held[c] = 0;
  closed[c] = 0;
  trusts[c] = 0
}

/* A client that is dead begins again when its session is over: another process, with the same variables. */
proctype Client(byte c) {
  do
  :: STEP { MayCampaign(c) -> SendCampaign(c) }
  :: STEP { MayRenew(c) -> SendRenewal(c) }
  :: STEP { call[c] == ANSWERED -> TakeAnswer(c) }
  :: STEP { MayLeave(c) -> Leave(c) }
  :: STEP { !IsCalm && call[c] != IDLE -> GiveUpCall(c) }
  :: STEP { !IsCalm && trusts[c] -> StopTrusting(c) }
  :: STEP { !IsCalm && promises[c] -> promises[c] = 0; printf("client %d: waits for too long\n", c) }
#ifdef PROGRESS
  :: STEP { !IsCalm && phase[c] != DEAD -> Die(c) }
  :: STEP { phase[c] == DEAD && session[c] != OPEN && Settled(c) ->
      phase[c] = OUTSIDE; printf("client %d: starts again\n", c) }
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

/* In calm times, that of a client that lives does not end. */
#ifdef ANY_END
#define MayEnd(c) true
#else
#define MayEnd(c) (!trusts[c] && !(call[c] == ANSWERED && promises[c]) && (!IsCalm || phase[c] == DEAD))
#endif

proctype Service(byte c) {
  do
  :: STEP { call[c] == CAMPAIGN && RowIsFree ->
      ApplyCampaign(c, after[c]); call[c] = ANSWERED; answer[c] = result }
  :: STEP { call[c] == RENEWAL ->
      ApplyRenewal(c); call[c] = ANSWERED; answer[c] = result }

  :: STEP { MayResign(c) -> ServeResign(c); HearOfResign(c) }
  :: STEP { !IsCalm && MayResign(c) -> ServeResign(c); printf("client %d: is not answered\n", c) }
  :: STEP { !IsCalm && MayResign(c) ->
      printf("client %d: sends its resignation twice\n", c);
      GoAstray(OLD_RESIGNATION, c, held[c]); ServeResign(c); HearOfResign(c) }

  /* The end of the session is a fact first; then its seat or place is given up. */
#ifdef WEAK_UNMARKED
  :: STEP { session[c] == OPEN && MayEnd(c) && leader == c && RowIsFree -> Vacate(EXPIRED) }
#else
  :: STEP { session[c] == OPEN && MayEnd(c) -> session[c] = ENDED; printf("the database: the session of client %d has ended\n", c) }
#endif
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
  session[1] = OPEN
}

#if STRAYS > 0
/* A message that is late. */
proctype Stray(byte i) {
  do
  :: STEP { stray[i] == OLD_CAMPAIGN && RowIsFree ->
      printf("the service: an old Campaign of client %d arrives\n", stray_client[i]);
      who = stray_client[i]; of_term = stray_term[i]; Drop(i); ApplyCampaign(who, of_term) }
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
  :: STEP { call[0] == CAMPAIGN && after[0] == 0 && remembers && RowIsFree -> DecideFromMemory(0) }
  od
}
#endif

#ifdef OTHERS
/* Each step is one of somebody else's. The seat may pass from one of them to another, and one that comes may have a
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
#endif

#ifdef ANY_END
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

#ifdef PROGRESS
/* ---------------------------------------------------------------------------------------- progress */

/* In calm times, all that is due is done before the next round. */
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
  || (session[0] == OPEN && phase[0] == DEAD) || MayRenew(0) || MayCampaign(0))

proctype Rounds() {
  do
  :: STEP { calm && !SomethingIsDue -> has_renewed = 0 }
  :: STEP { !calm -> calm = 1; has_renewed = 0; printf("from now on, nothing is lost or late\n") }
  od
}
#endif

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
#endif
#ifdef ANY_END
    run Operator();
#endif
#ifdef MEMORY
    run RememberingReplica();
#endif
#ifdef PROGRESS
    run Rounds();
#endif
    skip
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
  :: STEP { leader == 0 && has[0] == ASKED && call[0] == IDLE ->
      printf("SEEN: a grant whose answer was lost, also the one that opened the session\n") }
  :: STEP { has[0] == KNOWN && call[0] == ANSWERED && answer[0] == RENEWED && !promises[0] ->
      printf("SEEN: an answer to a renewal comes after all that it promises is over\n") }
  :: STEP { phase[0] == RETAKING && leader == 0 && term == held[0] && call[0] == CAMPAIGN && after[0] == term ->
      printf("SEEN: a client that was cut off asks for the next term of its own seat\n") }
  :: STEP { phase[0] == RETAKING && leader == 1 && call[0] == CAMPAIGN && after[0] == held[0] ->
      printf("SEEN: a client asks for the next term of a seat that it has lost\n") }
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
  :: STEP { phase[0] == DEAD && session[0] == NEW && stray[0] == OLD_CAMPAIGN && leader == NOBODY ->
      printf("SEEN: a Campaign whose caller has died is yet to be granted\n") }
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
#ifdef ANY_END
  :: STEP { Believes(0) && leader == 1 ->
      printf("SEEN: after a term that was ended from outside, a client believes while another leads\n") }
#endif
#ifdef APPLICATION
  :: STEP { work[0] == HAS_READ && Waits(1) && session[0] == ENDED ->
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
  :: STEP { calm && phase[0] == DEAD && leader == 0 && session[0] == OPEN && Waits(1) && !NoTermIsLeft ->
      printf("SEEN: in calm times, the dead lead until their session ends\n") }
  :: STEP { calm && phase[0] == DEAD && leader == 1 && !NoTermIsLeft ->
      printf("SEEN: in calm times, the dead are followed\n") }
#endif
  od
}
#endif
