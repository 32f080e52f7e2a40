// Converts between the contract's messages and those of the machines of open calls. Pure.
#pragma once

#include <vector>

#include "server/calls/campaign.h"
#include "server/calls/keep_alive.h"
#include "server/calls/observe.h"
#include "tenure/v1/election.pb.h"

namespace tenure::rpc {

// Each fills an empty message.
void Fill(const calls::CampaignReply& reply, v1::CampaignResponse& response);
void Fill(const calls::KeepAliveMessage& message, v1::KeepAliveResponse& response);
void Fill(const calls::ObserveMessage& message, v1::ObserveResponse& response);

// Errors: kInvalidSessionId.
[[nodiscard]] Result<calls::RenewalRequest> Parse(const v1::KeepAliveRequest& request);
// Errors: kInvalidSelector, kInvalidElectionName.
[[nodiscard]] Result<calls::Selection> Parse(const v1::ObserveRequest& request);

}  // namespace tenure::rpc
