// Holds the seats of one session: renews its lease, and notices what ends it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/connection.h"
#include "client/keep_alive_stream.h"
#include "client/tool/campaign_mailbox.h"
#include "core/lease.h"

namespace tenure {

// Of one thread: all decisions are made on it, and the lease is counted by the holder's clock.
class SeatHolder {
 public:
  // How holding ended. The first of several seats that is lost ends it.
  struct Lost {
    std::string election;  // empty: the session is over, and all seats with it
    std::string cause;
  };
  struct AskedToStepDown {
    std::string election;
    std::string successor;
  };
  using Ending = std::variant<Lost, AskedToStepDown, Interrupted>;

  // What the service has granted. A grant may have been answered late: `on_confirmed` is called
  // when a renewal has shown that the seats are held, and not before.
  SeatHolder(Connection& connection, std::shared_ptr<CampaignMailbox> mailbox,
             std::string session_id, Duration lease_ttl, std::vector<v1::Leadership> seats,
             std::function<void()> on_confirmed);
  ~SeatHolder() { CloseStream(); }
  SeatHolder(const SeatHolder&) = delete;
  SeatHolder& operator=(const SeatHolder&) = delete;

  [[nodiscard]] Ending Hold();
  [[nodiscard]] bool confirmed() const { return confirmed_; }

 private:
  using Time = Lease::Time;

  void OpenStream();
  void CloseStream();
  void ReopenLater();
  void Renew(Time now);
  // Take in what the server says; what they answer ends the holding.
  [[nodiscard]] std::optional<Lost> TakeIn(const v1::KeepAliveResponse& response);
  [[nodiscard]] std::optional<Lost> TakeIn(const v1::SeatNotice& notice);
  [[nodiscard]] std::optional<Lost> TakeIn(const v1::Renewal& renewal);
  // The first of the seats that a renewal does not list any more; empty if it lists them all.
  [[nodiscard]] std::string MissingIn(const v1::SessionRenewal& session) const;
  [[nodiscard]] bool IsMine(const std::string& election, uint64_t term) const;

  Connection& connection_;
  const std::shared_ptr<CampaignMailbox> mailbox_;
  const std::string session_id_;
  const std::vector<v1::Leadership> seats_;
  const std::function<void()> on_confirmed_;

  Lease lease_;
  bool confirmed_ = false;
  std::optional<AskedToStepDown> step_down_;

  std::shared_ptr<KeepAliveStream> stream_;
  uint64_t stream_number_ = 0;  // 0: none is open
  bool first_on_stream_ = false;
  uint64_t sequence_ = 0;
  std::map<uint64_t, Time> unanswered_;  // renewals of this stream, and when they were sent
  Time next_renewal_ = Time::max();
  Time reopen_at_ = Time::max();
};

}  // namespace tenure
