#include "server/rpc/campaign_request.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <utility>

#include "core/validation.h"
#include "server/rpc/convert.h"

namespace tenure::rpc {
namespace {

uint64_t RandomNumber() {
  thread_local std::random_device random;  // the kernel's generator
  return static_cast<uint64_t>(random()) << 32 | random();
}

SessionId RandomSessionId() {
  SessionId id;
  for (size_t i = 0; i < id.bytes.size(); i += 8) {
    const uint64_t number = RandomNumber();
    for (size_t j = 0; j < 8; ++j) id.bytes[i + j] = static_cast<uint8_t>(number >> (8 * j));
  }
  return id;
}

// The same request_id of the same identity makes the same session, on every replica: HMAC-SHA256,
// cut to 128 bits. The length of the identity, at most 64, marks where the request_id begins.
SessionId SessionIdFor(const CampaignCaller& caller, std::string_view request_id) {
  const std::string& identity = caller.principal.identity;
  std::string input = "tenure.v1 session ";
  input += static_cast<char>(identity.size());
  input += identity;
  input += request_id;
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), caller.session_key->data(), static_cast<int>(caller.session_key->size()),
       reinterpret_cast<const uint8_t*>(input.data()), input.size(), digest.data(), &size);
  SessionId id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

Result<std::optional<Duration>> ParseWait(const v1::CampaignRequest& request) {
  if (!request.has_wait()) return std::nullopt;
  const auto wait = FromProto(request.wait());
  if (!wait) return Fail(Reason::kInvalidWait, "wait is not a valid duration");
  if (*wait < Duration(0))
    return Fail(Reason::kInvalidWait, "wait is negative; it must be 0 or more");
  return wait;
}

Result<std::optional<Duration>> ParseTtl(const v1::CampaignRequest& request, const Limits& limits) {
  if (!request.has_lease_ttl()) return std::nullopt;
  const auto ttl = FromProto(request.lease_ttl());
  if (!ttl) return Fail(Reason::kInvalidLeaseTtl, "lease_ttl is not a valid duration");
  return ParseLeaseTtl(ttl, limits);
}

// If `named`, the candidate's name is mandatory.
Result<CandidateSession> ParseCandidateSession(const v1::CampaignRequest& request,
                                               const Limits& limits, const CampaignCaller& caller,
                                               bool named) {
  CandidateSession parsed;
  const bool has_session = !request.session_id().empty();
  if (!has_session || named || !request.candidate().empty()) {
    auto candidate = ParseCandidate(request.candidate());
    if (!candidate) return tl::unexpected(candidate.error());
    parsed.candidate = *std::move(candidate);
  }
  if (has_session) {
    const auto session = ParseSessionId(request.session_id());
    if (!session) return tl::unexpected(session.error());
    parsed.session = *session;
    return parsed;
  }

  const auto ttl = ParseTtl(request, limits);
  if (!ttl) return tl::unexpected(ttl.error());
  parsed.opening = Campaign::Opening{*std::exchange(parsed.candidate, std::nullopt), *ttl};
  if (!request.previous_session_id().empty()) {
    const auto previous = ParseSessionId(request.previous_session_id());
    if (!previous) return tl::unexpected(previous.error());
    parsed.opening->previous = *previous;
  }
  const size_t size = request.request_id().size();
  if (size != 0 && (size < kRequestIdBytesMin || size > kRequestIdBytesMax)) {
    return Fail(Reason::kInvalidRequestId,
                "the request_id has " + std::to_string(size) + " bytes; it must have 16 to 64");
  }
  if (size > 0 && !caller.session_key) return tl::unexpected(caller.session_key.error());
  parsed.session = size == 0 ? RandomSessionId() : SessionIdFor(caller, request.request_id());
  return parsed;
}

Result<std::optional<Term>> ParseAfterTerm(const v1::CampaignRequest& request) {
  if (!request.has_after_term()) return std::nullopt;
  if (request.after_term() == 0) {
    return Fail(Reason::kInvalidTerm,
                "`after_term` is 0; set it to the term that the session led in, or leave it out");
  }
  if (request.session_id().empty()) {
    return Fail(Reason::kInvalidTerm,
                "`after_term` is set without `session_id`; name the session that led in that term");
  }
  return Term{request.after_term()};
}

CallId NewCallId() { return {std::max<uint64_t>(1, RandomNumber())}; }

}  // namespace

Result<CampaignRequest> ParseCampaign(const v1::CampaignRequest& request, const Limits& limits,
                                      const CampaignCaller& caller) {
  const auto election = ParseElectionName(request.election());
  if (!election) return tl::unexpected(election.error());
  const auto value = ParseValue(request.value());
  if (!value) return tl::unexpected(value.error());
  const auto wait = ParseWait(request);
  if (!wait) return tl::unexpected(wait.error());
  const auto after_term = ParseAfterTerm(request);
  if (!after_term) return tl::unexpected(after_term.error());
  auto candidate = ParseCandidateSession(request, limits, caller, request.supersede());
  if (!candidate) return tl::unexpected(candidate.error());
  return CampaignRequest{{*election, candidate->session, std::move(candidate->opening),
                          std::move(candidate->candidate), *value, request.priority(), NewCallId(),
                          request.supersede(), *after_term, caller.principal},
                         *wait};
}

Result<CampaignForAllRequest> ParseCampaignForAll(const v1::CampaignRequest& request,
                                                  const Limits& limits,
                                                  const CampaignCaller& caller) {
  const auto fail = [](const std::string& what) { return Fail(Reason::kInvalidElectionSet, what); };
  if (!request.election().empty()) return fail("set either `election` or `elections`, not both");
  if (request.has_after_term()) {
    return Fail(Reason::kInvalidTerm,
                "`after_term` is set together with `elections`; resign each seat of a set instead");
  }
  if (static_cast<size_t>(request.elections_size()) > kElectionsPerCampaignMax) {
    return fail("the request names " + std::to_string(request.elections_size()) +
                " elections; the maximum is " + std::to_string(kElectionsPerCampaignMax));
  }
  CampaignForAllRequest parsed;
  std::set<ElectionName> names;
  for (const std::string& name : request.elections()) {
    const auto election = ParseElectionName(name);
    if (!election) return tl::unexpected(election.error());
    if (!names.insert(*election).second) return fail("election '" + name + "' is named twice");
    parsed.campaign.elections.push_back(*election);
  }
  const auto value = ParseValue(request.value());
  if (!value) return tl::unexpected(value.error());
  const auto wait = ParseWait(request);
  if (!wait) return tl::unexpected(wait.error());
  auto candidate = ParseCandidateSession(request, limits, caller, false);
  if (!candidate) return tl::unexpected(candidate.error());
  parsed.campaign.session = candidate->session;
  parsed.campaign.opening = std::move(candidate->opening);
  parsed.campaign.candidate = std::move(candidate->candidate);
  parsed.campaign.value = *value;
  parsed.campaign.call_id = NewCallId();
  parsed.campaign.principal = caller.principal;
  parsed.wait = *wait;
  return parsed;
}

}  // namespace tenure::rpc
