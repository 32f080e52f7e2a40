#include "server/access/access.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "core/validation.h"
#include "proto/status.h"
#include "server/access/read_file.h"
#include "server/access/trace.h"
#include "server/log/log.h"
#include "tls/serial.h"

namespace tenure::access {
namespace {

constexpr char kTokenMetadata[] = "authorization";
constexpr char kServiceMetadata[] = "tenure-service-id";
constexpr std::string_view kTokenScheme = "bearer ";  // in any case
constexpr size_t kRecordedNameBytesMax = 255;
constexpr uint64_t kRefusalsLoggedPerSecond = 100;

std::string TextOf(grpc::string_ref text) { return {text.data(), text.size()}; }

Credentials CredentialsOf(const grpc::ServerContextBase& context) {
  Credentials credentials;
  const auto authorization = context.client_metadata().find(kTokenMetadata);
  if (authorization != context.client_metadata().end()) {
    const std::string text = TextOf(authorization->second);
    const bool bearer = std::ranges::equal(text.substr(0, kTokenScheme.size()), kTokenScheme,
                                           [](char a, char b) { return std::tolower(a) == b; });
    credentials.token = bearer ? text.substr(kTokenScheme.size()) : std::string();
  }
  const auto peer = context.auth_context();
  if (peer == nullptr) return credentials;
  for (const auto& name : peer->FindPropertyValues(GRPC_X509_SAN_PROPERTY_NAME)) {
    credentials.san.push_back(TextOf(name));
  }
  const auto subject = peer->FindPropertyValues(GRPC_X509_SUBJECT_PROPERTY_NAME);
  if (!subject.empty()) credentials.subject = TextOf(subject.front());
  return credentials;
}

bool IsDeniedBy(const Policy& policy, const grpc::ServerContextBase& context) {
  if (policy.denied().empty()) return false;
  const auto peer = context.auth_context();
  if (peer == nullptr) return false;
  const auto certificates = peer->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  return std::ranges::any_of(certificates, [&](grpc::string_ref pem) {
    const auto serial = tls::SerialOfPem({pem.data(), pem.size()});
    return serial && policy.denied().contains(*serial);
  });
}

// How to show a name that is not checked yet: it may be megabytes of anything.
std::string Shown(const std::string& election) {
  return ParseElectionName(election) ? "'" + election + "'" : "(malformed name)";
}

// Names the verbs that allow a call.
std::string TextOf(Verb verb) {
  if (verb == Verb::kDescribe) return "the verbs 'inspect' and 'administer'";  // either
  return "the verb '" + std::string(VerbName(verb)) + "'";
}

// The part of the target that the identity may not use. Nothing if it may do all of it.
std::optional<std::string> Forbidden(const Identity& identity, Verb verb, const Target& target) {
  if (target.elections.empty() && target.prefixes.empty() && !identity.MaySomewhere(verb)) {
    return "for any election";
  }
  for (const std::string& election : target.elections) {
    if (!identity.May(verb, election)) return "for election " + Shown(election);
  }
  for (const std::string& prefix : target.prefixes) {
    if (!identity.MayInAll(verb, prefix))
      return prefix.empty() ? "for all elections"
                            : "for all elections with the prefix " + Shown(prefix);
  }
  return std::nullopt;
}

}  // namespace

tl::expected<std::unique_ptr<Access>, std::string> Access::Open(const std::string& policy_path,
                                                                Now now) {
  std::unique_ptr<Access> access(new Access(policy_path, std::move(now)));
  if (policy_path.empty()) return access;
  Sources sources;
  auto loaded = access->Load(sources);
  if (!loaded) return tl::unexpected(loaded.error());
  const MutexLock lock(access->mutex_);
  tls::DenySerials(loaded->policy.denied());
  access->policy_ = std::make_shared<const Policy>(std::move(loaded->policy));
  access->sources_ = std::move(loaded->sources);
  access->ended_ = loaded->ended;
  return access;
}

tl::unexpected<Error> Access::Refuse(const grpc::ServerContextBase& context, Reason reason,
                                     std::string message) const {
  bool logged = false;
  uint64_t unlogged = 0;
  {
    const MutexLock lock(mutex_);
    const engine::SteadyTime now = now_();
    if (now - refusals_since_ >= std::chrono::seconds(1)) {
      unlogged = refusals_ > kRefusalsLoggedPerSecond ? refusals_ - kRefusalsLoggedPerSecond : 0;
      refusals_since_ = now;
      refusals_ = 0;
    }
    logged = ++refusals_ <= kRefusalsLoggedPerSecond;
  }
  if (unlogged > 0) LogWarning("more calls were refused than are logged", {{"count", unlogged}});
  if (logged) {
    LogWarning("call refused", {{"reason", ReasonName(reason)},
                                {"detail", message},
                                {"peer", context.peer()},
                                {"trace", TraceIdOf(context)}});
  }
  return Fail(reason, std::move(message));
}

Result<void> Access::CheckService(const grpc::ServerContextBase& context) const {
  const auto named = context.client_metadata().find(kServiceMetadata);
  if (named == context.client_metadata().end()) return {};
  const std::string wanted = TextOf(named->second);
  if (!IsServiceId(wanted)) {
    return Refuse(context, Reason::kMalformedRequest,
                  std::string("the metadata ") + kServiceMetadata +
                      " is not a service id; it must be 32 lower-case hexadecimal digits");
  }
  const std::string own = service_id_();
  if (own.empty() || own == wanted) return {};
  auto refusal = Refuse(context, Reason::kWrongService,
                        "this replica belongs to service " + own + ", not to " + wanted +
                            ": it works on another database");
  refusal.value().metadata = {{"service_id", own}};
  return refusal;
}

std::shared_ptr<const Policy> Access::CurrentPolicy() const {
  const MutexLock lock(mutex_);
  return policy_;
}

bool Access::Denies(const grpc::ServerContextBase& context) const {
  return !policy_path_.empty() && IsDeniedBy(*CurrentPolicy(), context);
}

Result<Access::Caller> Access::Identify(const grpc::ServerContextBase& context) const {
  if (policy_path_.empty()) return Caller();
  const auto policy = CurrentPolicy();
  if (IsDeniedBy(*policy, context)) {
    return Refuse(context, Reason::kPermissionDenied,
                  "the policy denies the certificate of this call");
  }
  Caller identity = policy->Find(CredentialsOf(context));
  if (identity == nullptr) {
    return Refuse(context, Reason::kPermissionDenied,
                  "this call has no token or client certificate that the policy knows");
  }
  return identity;
}

Result<Access::Caller> Access::Allow(const grpc::ServerContextBase& context, Verb verb,
                                     const Target& target) const {
  if (const auto meant = CheckService(context); !meant) return tl::unexpected(meant.error());
  auto caller = Identify(context);
  if (!caller || *caller == nullptr) return caller;
  const Caller& identity = *caller;
  const auto forbidden = Forbidden(*identity, verb, target);
  if (!forbidden) return identity;
  return Refuse(context, Reason::kPermissionDenied,
                "identity '" + identity->name + "' lacks " + TextOf(verb) + " " + *forbidden);
}

Result<Access::Caller> Access::Admit(const grpc::ServerContextBase& context, Verb verb,
                                     const Target& target, size_t requests) {
  auto caller = Allow(context, verb, target);
  if (!caller || *caller == nullptr || TakeRequests(**caller, requests)) return caller;
  return Refuse(context, Reason::kLimitReached,
                "identity '" + (*caller)->name + "' is over its limit of " +
                    std::to_string(*(*caller)->limits.requests_per_second) +
                    " requests per second");
}

bool Access::TakeRequests(const Identity& identity, size_t requests) {
  if (!identity.limits.requests_per_second) return true;
  const auto rate = static_cast<double>(*identity.limits.requests_per_second);
  const engine::SteadyTime now = now_();
  const MutexLock lock(mutex_);
  RequestBucket& bucket = buckets_.try_emplace(identity.name, rate, now).first->second;
  return bucket.Take(rate, static_cast<double>(requests), now);
}

tl::expected<Access::Loaded, std::string> Access::Load(Sources& sources) const {
  Loaded loaded;
  const auto read = [&](const std::string& path) {
    auto text = ReadFile(path);
    if (text) sources[path] = *text;
    return text;
  };
  const auto text = read(policy_path_);
  if (!text) return tl::unexpected(text.error());
  auto policy = Policy::Parse(*text, read);
  if (!policy) return tl::unexpected(policy_path_ + ", " + policy.error());
  loaded.policy = *std::move(policy);
  loaded.sources = sources;
  const size_t last = text->find_last_not_of(" \t\r\n");
  loaded.ended = std::string_view(*text).substr(0, last + 1).ends_with("\n...");
  return loaded;
}

bool Access::Unchanged(const Sources& sources) const {
  return std::ranges::all_of(sources, [](const auto& source) {
    const auto text = ReadFile(source.first);
    return text && *text == source.second;
  });
}

bool Access::Refresh() {
  if (policy_path_.empty() || (complaint_.empty() && Unchanged(sources_))) return true;
  Sources sources;
  auto loaded = Load(sources);
  if (std::exchange(settling_, sources) != sources) return complaint_.empty();
  if (loaded && ended_ && !loaded->ended) {
    loaded = tl::unexpected(policy_path_ +
                            " is cut short: it does not end with '...', as the one in force does");
  }
  const std::string complaint = loaded ? "" : loaded.error();
  const bool logged = std::exchange(complaint_, complaint) == complaint;
  if (!loaded) {
    if (!logged)
      LogError("the changed policy cannot be used, the previous one stays in force",
               {{"error", complaint}});
    return false;
  }
  sources_ = std::move(loaded->sources);
  ended_ = loaded->ended;
  const auto policy = std::make_shared<const Policy>(std::move(loaded->policy));
  const auto before = CurrentPolicy();
  const bool more_denied = !std::ranges::includes(before->denied(), policy->denied());
  tls::DenySerials(policy->denied());
  {
    const MutexLock lock(mutex_);
    policy_ = policy;
  }
  LogInfo("policy reloaded",
          {{"identities", policy->identities().size()}, {"denied", policy->denied().size()}});
  if (more_denied && on_denied_) on_denied_();
  return true;
}

Principal PrincipalOf(const Access::Caller& caller) {
  return caller == nullptr ? Principal() : Principal{caller->name, caller->limits.quota};
}

std::string NameOf(const Access::Caller& caller, const grpc::ServerContextBase& context) {
  if (caller != nullptr) return caller->name;
  std::string name = context.peer();
  const auto peer = context.auth_context();
  if (peer != nullptr && peer->IsPeerAuthenticated() && !peer->GetPeerIdentity().empty()) {
    name = TextOf(peer->GetPeerIdentity().front());
  }
  return name.substr(0, kRecordedNameBytesMax);
}

}  // namespace tenure::access
