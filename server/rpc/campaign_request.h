// What a Campaign call asks for, read and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/law/law.h"
#include "core/limits.h"
#include "tenure/v1/election.pb.h"

namespace tenure::rpc {

// The candidate: a session that the caller has, or one to be opened by this call.
struct Stander {
  SessionId session;
  std::optional<Campaign::Opening> opening;
  std::optional<std::string> candidate;
};

struct CampaignRequest {
  Campaign campaign;
  std::optional<Duration> wait;  // nothing: until the deadline
};

struct CampaignForAllRequest {
  CampaignForAll campaign;
  std::optional<Duration> wait;
};

// Who campaigns.
struct CampaignCaller {
  Principal principal;
  // The service's key, without which nobody can tell which session a request_id opens; or why it is
  // not known yet.
  Result<std::string> session_key;
};

// Errors: those of Campaign in the proto that are INVALID_ARGUMENT; kStoreUnavailable, if the key
// is needed and not known.
[[nodiscard]] Result<CampaignRequest> ParseCampaign(const v1::CampaignRequest& request,
                                                    const Limits& limits,
                                                    const CampaignCaller& caller);
// REQUIRES: `elections` is set.
[[nodiscard]] Result<CampaignForAllRequest> ParseCampaignForAll(const v1::CampaignRequest& request,
                                                                const Limits& limits,
                                                                const CampaignCaller& caller);

}  // namespace tenure::rpc
