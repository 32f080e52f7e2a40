// What all simulated clients have: a clock of their own that drifts, a session, and the misfortune
// to be stopped (SIGSTOP) and to go on later as if nothing had happened.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lease.h"
#include "tests/sim/auditor.h"
#include "tests/sim/network.h"
#include "tests/sim/resource.h"
#include "tests/sim/world.h"

namespace tenure::sim {

// Nothing if the call was answered with something else.
inline const Leadership* ElectedBy(const calls::CampaignReply& reply) {
  return std::get_if<Leadership>(&reply.outcome);
}

class Client {
 public:
  Client(World& world, Network& network, Resource& resource, const Auditor& auditor, int number);
  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  virtual void Start() = 0;
  // The term in which it believes, now, that it leads an election.
  [[nodiscard]] virtual std::optional<Term> BelievedTerm(const ElectionName& election) const = 0;

  // Whether it wants to lead on in a term that it was granted, though it may not believe in it now.
  [[nodiscard]] virtual bool Holds() const { return false; }

  [[nodiscard]] const SessionId& session() const { return session_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // It has had its turn, and has gone.
  [[nodiscard]] bool retired() const { return retired_; }

  void Stop();
  void GoOn();

 protected:
  using Time = Lease::Time;
  using Task = std::function<void()>;

  [[nodiscard]] Time Now() const;
  // Later, by its own clock.
  void At(Time when, Task task);
  void After(Duration delay, Task task) { At(Now() + delay, std::move(task)); }
  // Runs the task; while the client is stopped, it waits.
  void Do(Task task);
  template <typename T>
  Respond<T> Here(std::function<void(const Result<T>&)> done) {
    return [this, done = std::move(done)](Result<T> result) {
      Do([done, result = std::move(result)] { done(result); });
    };
  }

  [[nodiscard]] bool Believes(const Lease& lease) const {
    return world_.mutation.forgets_to_stop || lease.BelievedAt(Now());
  }
  // The session that a Campaign names; a new one is opened by it.
  [[nodiscard]] CampaignRequest<Campaign> RequestFor(const ElectionName& election,
                                                     int32_t priority);
  [[nodiscard]] std::optional<Campaign::Opening> Opening() const;
  void NewSession();
  // The next session is that of a restarted process: it ends the older ones.
  void NewSessionThatSupersedes();
  void MoveOn();  // to another replica
  // An answer said that a term is ours: then it was granted to us.
  void CheckGrant(const Leadership& leadership);

  std::shared_ptr<Call> Stand(CampaignRequest<Campaign> request,
                              std::function<void(const Result<calls::CampaignReply>&)> done);
  void Submit(Command command, std::function<void(const Result<Answer>&)> done);
  void CloseSession(std::function<void(bool over)> done);
  // Closes the session, until that succeeds.
  void Retire();

  World& world_;
  Network& network_;
  Resource& resource_;
  const Auditor& auditor_;
  const int number_;
  const std::string name_;
  const std::string candidate_;  // under which it stands
  const int64_t drift_;          // in millionths
  SessionId session_;
  bool session_is_known_ = false;  // a replica has answered with it
  bool supersedes_ = false;
  std::optional<SessionId> previous_;
  int replica_;

 private:
  [[nodiscard]] std::optional<Term> AfterTermWithMutation(const Campaign& campaign) const;

  bool stopped_ = false;
  std::vector<Task> waiting_;
  int sessions_ = 0;
  bool retired_ = false;
};

}  // namespace tenure::sim
