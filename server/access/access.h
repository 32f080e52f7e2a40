// Access control: identifies the caller, and checks its call against the policy; and refuses calls
// that are meant for another service.
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

// What a call is about. Neither elections nor prefixes: a session, whose id is a secret of its own,
// so that it is enough to have the verb somewhere.
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

  // From now on, calls that name another service than this one (metadata "tenure-service-id") are
  // refused. While it answers with nothing, none are. Before the server starts.
  void Serve(std::function<std::string()> service_id) { service_id_ = std::move(service_id); }

  // Null if there is no policy.
  using Caller = std::shared_ptr<const Identity>;
  // Who calls, whichever service it names. Error: kPermissionDenied, for somebody whom the policy
  // does not know.
  [[nodiscard]] Result<Caller> Identify(const grpc::ServerContextBase& context) const;
  // Whether a call may do this. Errors: kPermissionDenied, kWrongService; kMalformedRequest, if it
  // names no service that could be one.
  [[nodiscard]] Result<Caller> Allow(const grpc::ServerContextBase& context, Verb verb,
                                     const Target& target) const;
  // The same for a call that asks for something new, and counts as `requests`: kLimitReached, too.
  [[nodiscard]] Result<Caller> Admit(const grpc::ServerContextBase& context, Verb verb,
                                     const Target& target, size_t requests = 1);

  // Whether the policy denies the certificate that a call came with.
  [[nodiscard]] bool Denies(const grpc::ServerContextBase& context) const;
  // From now on, `act` runs whenever certificates are denied that were not before. Without it, open
  // calls would go on.
  void OnDenied(std::function<void()> act) { on_denied_ = std::move(act); }

  // Reads the policy again if it, or a file of tokens that it names, has changed, and is the same
  // as at the last call: somebody may be writing it. A policy that cannot be used changes nothing,
  // and the answer is false. Nor can one be used that does not end with "..." although the one in
  // force does: it is cut short.
  bool Refresh();

 private:
  // What a policy was made of.
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
      TENURE_GUARDED_BY(mutex_);  // of identities that are limited
  // A flood of refusals does not push other lines out of the log.
  mutable engine::SteadyTime refusals_since_ TENURE_GUARDED_BY(mutex_);
  mutable uint64_t refusals_ TENURE_GUARDED_BY(mutex_) = 0;  // since then

  // Used by Open, OnDenied and Refresh only.
  std::function<void()> on_denied_;
  Sources sources_;
  Sources settling_;  // what was read last, if it is something else
  bool ended_ = false;
  std::string complaint_;  // of the last Refresh; empty if it was fine
};

[[nodiscard]] Principal PrincipalOf(const Access::Caller& caller);

// The caller's name for records: its name in the policy, or else the authenticated name of the
// peer, or else its address.
[[nodiscard]] std::string NameOf(const Access::Caller& caller,
                                 const grpc::ServerContextBase& context);

}  // namespace tenure::access
