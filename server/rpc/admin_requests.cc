#include "server/rpc/admin_requests.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/duration_text.h"
#include "core/validation.h"
#include "server/rpc/convert.h"

namespace tenure::rpc {
namespace {

constexpr size_t kPageSizeDefault = 100;
constexpr size_t kPageSizeMax = 1000;

struct Common {
  ElectionName election;
  Author author;
};

template <typename Request>
Result<Common> ParseCommon(const Request& request, std::string identity) {
  const auto election = ParseElectionName(request.election());
  if (!election) return tl::unexpected(election.error());
  const auto reason = ParseReason(request.reason());
  if (!reason) return tl::unexpected(reason.error());
  return Common{*election, {std::move(identity), *reason}};
}

Result<Duration> ParseDuration(std::string_view field, const google::protobuf::Duration& message,
                               Duration least) {
  const auto duration = FromProto(message);
  if (duration) return ParseSetting(field, *duration, least);
  return Fail(Reason::kInvalidSetting, std::string(field) + " is not a valid duration",
              {{"field", std::string(field)}});
}

template <typename Request>
Result<Pause> ParsePause(const Request& request, bool paused, std::string identity) {
  auto common = ParseCommon(request, std::move(identity));
  if (!common) return tl::unexpected(common.error());
  return Pause{common->election, paused, std::move(common->author)};
}

}  // namespace

Result<Appoint> Parse(const v1::AppointRequest& request, std::string identity) {
  auto common = ParseCommon(request, std::move(identity));
  if (!common) return tl::unexpected(common.error());
  const auto candidate = ParseCandidate(request.candidate());
  if (!candidate) return tl::unexpected(candidate.error());
  Appoint command{common->election,         {request.term()}, *candidate, request.force(), {},
                  std::move(common->author)};
  if (request.has_reserve_for()) {
    const auto reserve_for = ParseDuration("reserve_for", request.reserve_for(), Duration(1));
    if (!reserve_for) return tl::unexpected(reserve_for.error());
    command.reserve_for = *reserve_for;
  }
  return command;
}

Result<Depose> Parse(const v1::DeposeRequest& request, std::string identity) {
  auto common = ParseCommon(request, std::move(identity));
  if (!common) return tl::unexpected(common.error());
  const auto term = ParseTerm(request.term());
  if (!term) return tl::unexpected(term.error());
  const auto cool_down = ParseDuration("cool_down", request.cool_down(), Duration(0));
  if (!cool_down) return tl::unexpected(cool_down.error());
  return Depose{common->election, *term, *cool_down, std::move(common->author)};
}

Result<Pause> Parse(const v1::PauseRequest& request, std::string identity) {
  return ParsePause(request, true, std::move(identity));
}

Result<Pause> Parse(const v1::ResumeRequest& request, std::string identity) {
  return ParsePause(request, false, std::move(identity));
}

Result<Configure> Parse(const v1::UpdateElectionRequest& request, std::string identity) {
  auto common = ParseCommon(request, std::move(identity));
  if (!common) return tl::unexpected(common.error());
  Configure command;
  command.election = common->election;
  command.create = request.allow_missing();
  command.author = std::move(common->author);

  struct Field {
    const char* name;
    bool given;
    const google::protobuf::Duration& message;
    std::optional<Duration>& setting;
  };
  const Field fields[] = {
      {"lock_delay", request.has_lock_delay(), request.lock_delay(), command.lock_delay},
      {"min_hold", request.has_min_hold(), request.min_hold(), command.min_hold},
      {"default_lease_ttl", request.has_default_lease_ttl(), request.default_lease_ttl(),
       command.lease_ttl_default},
      {"max_lease_ttl", request.has_max_lease_ttl(), request.max_lease_ttl(),
       command.lease_ttl_max},
  };
  for (const Field& field : fields) {
    if (!field.given) continue;
    const auto setting = ParseDuration(field.name, field.message, Duration(0));
    if (!setting) return tl::unexpected(setting.error());
    field.setting = *setting;
  }
  if (request.has_max_candidates()) {
    if (request.max_candidates() > kAdminQueueMax) {
      return Fail(Reason::kInvalidSetting,
                  "max_candidates is " + std::to_string(request.max_candidates()) +
                      "; it must be between 0 and " + std::to_string(kAdminQueueMax),
                  {{"field", "max_candidates"}, {"max", std::to_string(kAdminQueueMax)}});
    }
    command.queue_max = request.max_candidates();
  }
  return command;
}

Result<Delete> Parse(const v1::DeleteElectionRequest& request, std::string identity) {
  auto common = ParseCommon(request, std::move(identity));
  if (!common) return tl::unexpected(common.error());
  return Delete{common->election, {request.term()}, std::move(common->author)};
}

Result<engine::PurgeOrder> Parse(const v1::PurgeElectionsRequest& request, std::string identity,
                                 Duration unused_min) {
  const auto reason = ParseReason(request.reason());
  if (!reason) return tl::unexpected(reason.error());
  const auto unused_for = FromProto(request.unused_for());
  if (!unused_for || *unused_for < unused_min) {
    return Fail(Reason::kInvalidSetting,
                "unused_for must be a duration of at least " + DurationText(unused_min),
                {{"field", "unused_for"}, {"min", DurationText(unused_min)}});
  }
  const auto size = ParsePageSize(request.page_size());
  if (!size) return tl::unexpected(size.error());
  return engine::PurgeOrder{{*unused_for, request.dry_run(), {std::move(identity), *reason}},
                            request.prefix(),
                            request.page_token(),
                            *size};
}

Result<size_t> ParsePageSize(int32_t page_size) {
  if (page_size < 0)
    return Fail(Reason::kInvalidPage,
                "page_size is " + std::to_string(page_size) + "; it must be 0 or more");
  if (page_size == 0) return kPageSizeDefault;
  return std::min(static_cast<size_t>(page_size), kPageSizeMax);
}

Result<uint64_t> ParsePageNumber(std::string_view page_token, uint64_t first) {
  if (page_token.empty()) return first;
  int64_t number = 0;  // the databases' own integers end with this type
  const char* end = page_token.data() + page_token.size();
  const auto [read_to, error] = std::from_chars(page_token.data(), end, number);
  if (error != std::errc() || read_to != end || number < 0) {
    return Fail(Reason::kInvalidPage, "the page_token is not from an earlier response");
  }
  return static_cast<uint64_t>(number);
}

}  // namespace tenure::rpc
