// What an open KeepAlive stream does: renews sessions on request, and reports at once what happens
// to them and their seats.
//
// One request at a time is answered. The next one is read when the answer is on its way, so that a
// client which does not read holds one answer that is being sent, one that waits, and notices up to
// a bound. An answer with many seats comes in parts, each of which fits into a message; the seats
// of the next part are read when the one before is on its way. About a session that its caller may
// not use it reports nothing: notices wait until the first renewal has shown whose it is.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "server/calls/machine.h"
#include "server/calls/outbox.h"

namespace tenure::calls {

struct RenewalRequest {
  uint64_t sequence;
  std::vector<SessionId> sessions;  // at least one
};
struct SessionRenewal {
  SessionId id;
  Result<Session> session;  // errors: kSessionEnded, kSessionNotFound
  // Those it holds, if the stream names it for the first time.
  std::vector<Leadership> seats = {};
};
struct Renewal {
  uint64_t sequence;
  // As they were asked for. In a part that follows another: those whose seats it has.
  std::vector<SessionRenewal> sessions;
  bool more = false;  // another part follows
};
// Of a seat: ELECTED, VACATED or HANDOVER_ASKED.
using SeatNotice = std::shared_ptr<const Event>;
using KeepAliveMessage = std::variant<Renewal, SeatNotice, SessionOver>;

// The client asks for renewals. An error in the request ends the stream.
struct Received {
  Result<RenewalRequest> request;
};

// Of one thread at a time.
class KeepAlive {
 public:
  using Event = std::variant<Begun, Received, ReadsDone, Watched, Renewed, SeatsRead, Changed,
                             SessionOver, HistoryReset, Drained, Written, Cancelled>;
  using Outward = std::variant<ReadRequest, Write<KeepAliveMessage>, Finish, BreakOff, HangUp>;
  using Effect = std::variant<WatchSessions, Renew, ReadSeats, Outward>;

  // `budget`: see Outbox.
  explicit KeepAlive(Principal caller = {}, std::shared_ptr<SendBudget> budget = nullptr)
      : caller_(std::move(caller)), outbox_(std::move(budget)) {}

  [[nodiscard]] std::vector<Effect> Step(Event event, SteadyTime now);
  [[nodiscard]] bool finished() const { return finished_; }

 private:
  void On(const Begun&) { Emit(ReadRequest{}); }
  void On(Received& received);
  void On(const ReadsDone&);
  void On(const Watched&);
  void On(Renewed& renewed);
  void On(SeatsRead& read);
  void On(const Changed& changed);
  void On(const SessionOver& over);
  void On(const HistoryReset&);
  void On(const Drained&);
  void On(const Written& written);
  void On(const Cancelled&) { End(HangUp{}); }

  void RenewAll();
  void FindOwn();
  void ReadMoreSeats();
  void List(std::vector<Leadership> seats);
  void AnswerInPart();
  void Answer();
  void Tell(const SessionId& session, KeepAliveMessage message);
  // Otherwise it is finished.
  [[nodiscard]] bool HasRoom();
  void Say(KeepAliveMessage message);
  void WriteNext();
  void FinishIfAllIsSaid();
  void FinishWith(Error error) { End(BreakOff{std::move(error)}); }
  void End(Outward last);
  // Nothing comes after the last word.
  template <typename T>
  void Emit(T effect) {
    if (!finished_) effects_.emplace_back(std::move(effect));
  }

  const Principal caller_;
  bool finished_ = false;
  bool reads_done_ = false;
  Outbox<KeepAliveMessage> outbox_;
  size_t unsent_bytes_ = 0;            // of the notices in it
  std::map<SessionId, bool> watched_;  // true: a renewal has shown that the caller may use it
  std::set<SessionId> gone_;           // of those that are watched: for nothing any more
  // Of sessions whose first renewal is not answered yet.
  std::vector<std::pair<SessionId, KeepAliveMessage>> early_;

  // The answer to the request that was read last, while it is put together.
  Renewal renewal_;
  SeatPage unlisted_;      // the seats that are still to be listed
  size_t seat_bytes_ = 0;  // of those that it has
  size_t unanswered_ = 0;  // sessions that are not renewed yet
  std::optional<Error> error_;

  std::vector<Effect> effects_;
};

}  // namespace tenure::calls
