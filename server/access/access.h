// Access control: identifies callers, checks their calls against the policy, and refuses calls that
// are meant for another service.
//
// A call is checked once, when it begins: an admitted call continues even if the policy changes or
// its certificate expires. Every refusal is logged.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/mutex.h"
#include "core/error.h"
#include "server/access/policy.h"
#include "server/access/request_bucket.h"
#include "server/engine/work/scheduler.h"

namespace tenure::access {

// What a call is about. With neither elections nor prefixes, it is a session, whose id is a secret
// in itself: having the verb for any election is enough.
struct Target {
  std::vector<std::string> elections = {};
  std::vector<std::string> prefixes = {};
};

// Thread-safe.
class Access {
 public:
  using Now = std::function<engine::SteadyTime()>;

  // With an empty path everybody may do everything. The error is one sentence for the operator.
  [[nodiscard]] static tl::expected<std::unique_ptr<Access>, std::string> Open(
      const std::string& policy_path, Now now);

  // Refuses calls that name another service (metadata "tenure-service-id"), but none while
  // `service_id` returns "". Call before the server starts.
  void Serve(std::function<std::string()> service_id) { service_id_ = std::move(service_id); }

  // Null if there is no policy.
  using Caller = std::shared_ptr<const Identity>;
  // The caller, whichever service the call names. Error: kPermissionDenied, if the policy does not
  // know the caller.
  [[nodiscard]] Result<Caller> Identify(const grpc::ServerContextBase& context) const;
  // The caller, if it may do this. Errors: kPermissionDenied, kWrongService; kMalformedRequest, if
  // the service id is malformed.
  [[nodiscard]] Result<Caller> Allow(const grpc::ServerContextBase& context, Verb verb,
                                     const Target& target) const;
  // Like Allow, for a call that starts new work, and counts as `requests`. Error: kLimitReached,
  // too.
  [[nodiscard]] Result<Caller> Admit(const grpc::ServerContextBase& context, Verb verb,
                                     const Target& target, size_t requests = 1);

  // Whether the policy denies the certificate that a call came with.
  [[nodiscard]] bool Denies(const grpc::ServerContextBase& context) const;
  // `act` runs whenever a new policy denies more certificates, so that it can end open calls.
  void OnDenied(std::function<void()> act) { on_denied_ = std::move(act); }

  // Reloads the policy if it, or a file of tokens that it names, has changed and is the same as at
  // the last call: somebody may still be writing it. Returns false, and keeps the previous policy,
  // if the new one cannot be used. A policy that lacks the final "..." of the one in force counts
  // as cut short.
  bool Refresh();

 private:
  // The files that a policy was read from.
  using Sources = std::map<std::string, std::string>;  // path -> content
  struct Loaded {
    Policy policy;
    Sources sources;
    bool ended = false;  // with YAML's mark for the end of a document
  };

  Access(std::string policy_path, Now now)
      : policy_path_(std::move(policy_path)), now_(std::move(now)) {}

  // Adds what it reads to `sources`, even if it cannot be used.
  [[nodiscard]] tl::expected<Loaded, std::string> Load(Sources& sources) const;
  [[nodiscard]] bool Unchanged(const Sources& sources) const;
  [[nodiscard]] std::shared_ptr<const Policy> CurrentPolicy() const;
  [[nodiscard]] bool TakeRequests(const Identity& identity, size_t requests);
  // Whether the call is meant for this service. Errors: kWrongService, kMalformedRequest.
  [[nodiscard]] Result<void> CheckService(const grpc::ServerContextBase& context) const;
  [[nodiscard]] tl::unexpected<Error> Refuse(const grpc::ServerContextBase& context, Reason reason,
                                             std::string message) const;

  const std::string policy_path_;  // empty: there is no policy
  const Now now_;
  std::function<std::string()> service_id_ = [] { return std::string(); };

  mutable Mutex mutex_;
  std::shared_ptr<const Policy> policy_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, RequestBucket> buckets_
      TENURE_GUARDED_BY(mutex_);  // of identities with a limit
  // Limits refusals in the log: a flood must not push other lines out.
  mutable engine::SteadyTime refusals_since_ TENURE_GUARDED_BY(mutex_);
  mutable uint64_t refusals_ TENURE_GUARDED_BY(mutex_) = 0;  // since then

  // Used by Open, OnDenied and Refresh only.
  std::function<void()> on_denied_;
  Sources sources_;
  Sources settling_;  // what was read last, if it differs
  bool ended_ = false;
  std::string complaint_;  // of the last Refresh; empty if it was fine
};

[[nodiscard]] Principal PrincipalOf(const Access::Caller& caller);

// The caller's name for records: its name in the policy, or else the authenticated name of the
// peer, or else its address.
[[nodiscard]] std::string NameOf(const Access::Caller& caller,
                                 const grpc::ServerContextBase& context);

}  // namespace tenure::access
