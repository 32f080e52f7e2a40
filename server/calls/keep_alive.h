// What an open KeepAlive stream does: renews sessions on request, and reports at once what happens
// to them and their seats.
//
// Answers one request at a time. The next one is read when the answer is on its way, so a client
// that does not read holds one answer that is being sent, one that waits, and a bounded number of
// notices. An answer with many seats comes in parts that each fit into a message; the seats of a
// part are read when the one before is on its way. Reports nothing about a session that the caller
// may not use: notices wait until the first renewal has shown whose it is.
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
  // The seats it holds, if this is its first renewal on the stream.
  std::vector<Leadership> seats = {};
};
struct Renewal {
  uint64_t sequence;
  // In the order of the request. In a later part: only the sessions whose seats it has.
  std::vector<SessionRenewal> sessions;
  bool more = false;  // another part follows
};
// About a seat: ELECTED, VACATED or HANDOVER_ASKED.
using SeatNotice = std::shared_ptr<const Event>;
using KeepAliveMessage = std::variant<Renewal, SeatNotice, SessionOver>;

// The client asks for renewals. An error in the request ends the stream.
struct Received {
  Result<RenewalRequest> request;
};

// Not thread-safe.
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
  void Deliver(const SessionId& session, KeepAliveMessage message);
  // Whether one more message fits. If not, ends the stream.
  [[nodiscard]] bool HasRoom();
  void Say(KeepAliveMessage message);
  void WriteNext();
  void FinishIfAllIsSaid();
  void FinishWith(Error error) { End(BreakOff{std::move(error)}); }
  void End(Outward last);
  // Nothing is emitted after the end.
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
  std::set<SessionId> gone_;           // watched sessions that ended or never existed
  // Notices about sessions whose first renewal is not answered yet.
  std::vector<std::pair<SessionId, KeepAliveMessage>> early_;

  // The answer to the latest request, while it is put together.
  Renewal renewal_;
  SeatPage unlisted_;      // the seats that are still to be listed
  size_t seat_bytes_ = 0;  // of the seats in it
  size_t unanswered_ = 0;  // sessions that are not renewed yet
  std::optional<Error> error_;

  std::vector<Effect> effects_;
};

}  // namespace tenure::calls
