// Parses and checks Campaign calls.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/law/law.h"
#include "core/limits.h"
#include "tenure/v1/election.pb.h"

namespace tenure::rpc {

// The candidate: an existing session of the caller, or one that this call opens.
struct CandidateSession {
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

// The caller of a campaign.
struct CampaignCaller {
  Principal principal;
  // The service's key, from which request_ids derive sessions; or why it is not known yet.
  Result<std::string> session_key;
};

// Errors: those that the proto lists for Campaign as INVALID_ARGUMENT; kStoreUnavailable, if the
// key is needed and not known.
[[nodiscard]] Result<CampaignRequest> ParseCampaign(const v1::CampaignRequest& request,
                                                    const Limits& limits,
                                                    const CampaignCaller& caller);
// REQUIRES: `elections` is set.
[[nodiscard]] Result<CampaignForAllRequest> ParseCampaignForAll(const v1::CampaignRequest& request,
                                                                const Limits& limits,
                                                                const CampaignCaller& caller);

}  // namespace tenure::rpc
