// Logs when terms of one seat begin and end, and what the service refuses.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "client/cpp/io/client_log.h"
#include "client/cpp/io/connection.h"
#include "client/cpp/machine/call_error.h"
#include "client/cpp/machine/seat.h"

namespace tenure {

// Not thread-safe.
class SeatLog {
 public:
  // `first`: the seat is the first of its set, and logs what concerns the whole set.
  SeatLog(std::string candidate, std::string election, bool first)
      : candidate_(std::move(candidate)), election_(std::move(election)), first_(first) {}

  void Say(const SeatEvent& event, ClientLog& log) {
    std::visit([&](const auto& what) { On(what, log); }, event);
  }

 private:
  void On(const Elected& elected, ClientLog& log) {
    term_ = elected.leadership.term();
    log.Say({LogEvent::kElected,
             candidate_ + " leads " + election_ + " in term " + std::to_string(term_)});
  }
  void On(const Lost& lost, ClientLog& log) {
    const std::string cause = lost.cause == v1::CAUSE_UNSPECIFIED
                                  ? "for an unknown cause"
                                  : "(" + v1::Cause_Name(lost.cause).substr(sizeof "CAUSE") + ")";
    log.Say({LogEvent::kLost, candidate_ + " no longer leads " + election_ + ": term " +
                                  std::to_string(term_) + " ended " + cause});
  }
  // Errors of an endpoint are already in the log.
  void On(const Troubled& troubled, ClientLog& log) {
    if (!IsTransient(troubled.status)) SayRefused(troubled.status, "still trying", log);
  }
  void On(const Refused& refused, ClientLog& log) {
    SayRefused(refused.status, "not trying again", log);
  }
  template <typename Event>
  void On(const Event&, ClientLog&) {}

  void SayRefused(const grpc::Status& status, const std::string& next, ClientLog& log) {
    if (!first_) return;
    const std::string cause = log.Text(status);
    log.Say({.event = LogEvent::kRefused,
             .message = "cannot stand for " + election_ + ": " + cause + "; " + next,
             .cause = cause});
  }

  std::string candidate_;
  std::string election_;
  bool first_;
  uint64_t term_ = 0;  // the last one that began
};

}  // namespace tenure
