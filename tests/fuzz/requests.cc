// Requests as callers send them: bytes, read by protobuf and then by our parsers. An accepted
// request is within the limits that the contract names; a refused one is an INVALID_ARGUMENT that
// says why in one line. The first byte of the input chooses the message, the rest is the message.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/limits.h"
#include "proto/status.h"
#include "server/rpc/admin_requests.h"
#include "server/rpc/call_messages.h"
#include "server/rpc/campaign_request.h"
#include "tests/fuzz/require.h"

namespace tenure::rpc {
namespace {

const Limits kLimits;
const CampaignCaller kCaller{{"team", {}}, std::string(32, 'k')};
constexpr char kIdentity[] = "olga";
constexpr Duration kUnusedForMin = std::chrono::hours(48);

// 1 to 255 bytes, without C0, DEL, and C1 in UTF-8.
bool IsName(std::string_view text) {
  if (text.empty() || text.size() > 255) return false;
  char last = '\0';
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7f || (last == '\xc2' && byte >= 0x80 && byte < 0xa0))
      return false;
    last = c;
  }
  return true;
}

bool IsSetting(const std::optional<Duration>& duration, Duration least) {
  return !duration || (*duration >= least && *duration <= std::chrono::hours(24));
}

void CheckRefusal(const Error& error) {
  Require(CodeOf(error.reason) == grpc::StatusCode::INVALID_ARGUMENT, "it is the caller's mistake");
  const bool one_line = std::ranges::none_of(
      error.message, [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
  Require(!error.message.empty() && one_line, "it is said in one line");
  Require(!ToStatus(error).error_details().empty(), "its reason can be sent");
}

template <typename Request>
void CheckCampaigner(const Request& campaign, const v1::CampaignRequest& request) {
  Require(campaign.value.size() <= 4096, "a value is short");
  Require(campaign.call_id.value != 0, "a call has an id");
  Require(campaign.principal == kCaller.principal, "the caller is who it is");
  Require(!campaign.candidate || IsName(*campaign.candidate), "a candidate has a name");
  Require(campaign.opening.has_value() == request.session_id().empty(),
          "a session is named, or opened");
  if (!campaign.opening) return;
  Require(IsName(campaign.opening->candidate), "a candidate has a name");
  const auto& ttl = campaign.opening->lease_ttl;
  Require(!ttl || (*ttl >= kLimits.lease_ttl_min && *ttl <= kLimits.lease_ttl_max), "a lease fits");
  const size_t id_size = request.request_id().size();
  Require(id_size == 0 || (id_size >= 16 && id_size <= 64), "a request_id is long enough");
}

void Check(const CampaignRequest& parsed, const v1::CampaignRequest& request) {
  Require(IsName(parsed.campaign.election.bytes), "an election has a name");
  Require(!parsed.campaign.supersede || parsed.campaign.opening || parsed.campaign.candidate,
          "a superseding campaign names its candidate");
  Require(!parsed.campaign.after_term ||
              (parsed.campaign.after_term > Term{0} && !parsed.campaign.opening),
          "a session that led has a term");
  Require(parsed.wait.value_or(Duration(0)) >= Duration(0), "nobody waits backwards");
  CheckCampaigner(parsed.campaign, request);
  if (request.session_id().empty() && request.request_id().empty()) return;
  const auto again = ParseCampaign(request, kLimits, kCaller);
  Require(again->campaign.session == parsed.campaign.session, "a retry finds its session");
}

void Check(const CampaignForAllRequest& parsed, const v1::CampaignRequest& request) {
  const auto& elections = parsed.campaign.elections;
  Require(!elections.empty() && elections.size() <= 32, "a set is small");
  Require(std::set(elections.begin(), elections.end()).size() == elections.size(), "each once");
  for (const ElectionName& name : elections) Require(IsName(name.bytes), "an election has a name");
  Require(parsed.wait.value_or(Duration(0)) >= Duration(0), "nobody waits backwards");
  CheckCampaigner(parsed.campaign, request);
}

void Check(const calls::RenewalRequest& parsed, const v1::KeepAliveRequest& request) {
  Require(!parsed.sessions.empty() && parsed.sessions.size() <= 500, "a renewal is bounded");
  Require(parsed.sequence == request.sequence(), "an answer finds its question");
  for (int i = 0; i < request.session_ids_size(); ++i) {
    Require(parsed.sessions[static_cast<size_t>(i)].Hex() == request.session_ids(i), "one id");
  }
}

void Check(const calls::Selection& parsed, const v1::ObserveRequest& request) {
  Require(request.selectors_size() <= 11'000, "a request is bounded");
  Require(parsed.prefixes() <= 64, "prefixes are few");
  Require(parsed.prefixes() + parsed.names().size() > 0, "something is selected");
  for (const auto& [name, from] : parsed.names()) {
    Require(IsName(name.bytes), "an election has a name");
    Require(!from || from->value > 0, "revisions start at 1");
  }
}

void CheckAsked(const ElectionName& election, const Author& author) {
  Require(IsName(election.bytes), "an election has a name");
  Require(author.identity == kIdentity, "the caller is who it is");
  Require(author.reason.empty() || IsName(author.reason), "a reason is a line");
}

void Check(const Appoint& parsed, const v1::AppointRequest& /*request*/) {
  CheckAsked(parsed.election, parsed.author);
  Require(IsName(parsed.candidate), "a candidate has a name");
  Require(IsSetting(parsed.reserve_for, Duration(1)), "a reservation ends");
}

void Check(const Depose& parsed, const v1::DeposeRequest& /*request*/) {
  CheckAsked(parsed.election, parsed.author);
  Require(parsed.term.value > 0, "terms start at 1");
  Require(IsSetting(parsed.cool_down, Duration(0)), "a cool-down ends");
}

template <typename Request>
void Check(const Pause& parsed, const Request& /*request*/) {
  CheckAsked(parsed.election, parsed.author);
  Require(parsed.paused == std::is_same_v<Request, v1::PauseRequest>, "it is what was asked for");
}

void Check(const Configure& parsed, const v1::UpdateElectionRequest& /*request*/) {
  CheckAsked(parsed.election, parsed.author);
  for (const auto& setting :
       {parsed.lock_delay, parsed.min_hold, parsed.lease_ttl_default, parsed.lease_ttl_max}) {
    Require(IsSetting(setting, Duration(0)), "a setting is in its range");
  }
  Require(parsed.queue_max.value_or(0) <= 1'000'000, "a queue is bounded");
}

void Check(const Delete& parsed, const v1::DeleteElectionRequest& /*request*/) {
  CheckAsked(parsed.election, parsed.author);
}

void Check(const engine::PurgeOrder& parsed, const v1::PurgeElectionsRequest& /*request*/) {
  Require(parsed.purge.unused_for >= kUnusedForMin, "what was used lately is kept");
  Require(parsed.limit > 0 && parsed.limit <= 1000, "a page is bounded");
}

// Reads a message, and what our parser makes of it.
template <typename Request, typename Parser>
void Try(const std::string& bytes, Parser parse) {
  Request request;
  if (!request.ParseFromString(bytes)) return;
  const auto parsed = parse(request);
  if (!parsed) return CheckRefusal(parsed.error());
  Check(*parsed, request);
}

template <typename Request>
void TryOperator(const std::string& bytes) {
  Try<Request>(bytes, [](const Request& request) { return Parse(request, kIdentity); });
}

void TryRequest(char kind, const std::string& bytes) {
  const auto parse = [](const auto& request) { return Parse(request); };
  switch (kind) {
    case 'C':
      return Try<v1::CampaignRequest>(bytes, [](const v1::CampaignRequest& request) {
        return ParseCampaign(request, kLimits, kCaller);
      });
    case 'S':
      return Try<v1::CampaignRequest>(bytes, [](const v1::CampaignRequest& request) {
        // The service asks so only if there are elections.
        v1::CampaignRequest set = request;
        if (set.elections().empty()) set.add_elections("orders");
        return ParseCampaignForAll(set, kLimits, kCaller);
      });
    case 'K': return Try<v1::KeepAliveRequest>(bytes, parse);
    case 'O': return Try<v1::ObserveRequest>(bytes, parse);
    case 'A': return TryOperator<v1::AppointRequest>(bytes);
    case 'D': return TryOperator<v1::DeposeRequest>(bytes);
    case 'P': return TryOperator<v1::PauseRequest>(bytes);
    case 'R': return TryOperator<v1::ResumeRequest>(bytes);
    case 'U': return TryOperator<v1::UpdateElectionRequest>(bytes);
    case 'X': return TryOperator<v1::DeleteElectionRequest>(bytes);
    case 'G':
      return Try<v1::PurgeElectionsRequest>(bytes, [](const v1::PurgeElectionsRequest& request) {
        return Parse(request, kIdentity, kUnusedForMin);
      });
    default: return;
  }
}

}  // namespace
}  // namespace tenure::rpc

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const google::protobuf::LogSilencer silence;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  tenure::rpc::TryRequest(input.front(), std::string(input.substr(1)));
  return 0;
}
