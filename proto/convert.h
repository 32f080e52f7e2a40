// Converts between the contract's messages and the law's types. Pure.
#pragma once

#include <optional>

#include "core/law/law.h"
#include "core/types.h"
#include "proto/time.h"
#include "tenure/v1/election.pb.h"

namespace tenure {

[[nodiscard]] v1::Cause ToProto(Cause cause);
[[nodiscard]] v1::Session ToProto(const Session& session);
[[nodiscard]] v1::Leadership ToProto(const Leadership& leadership);
[[nodiscard]] v1::Event ToProto(const Event& event);
[[nodiscard]] v1::Snapshot ToSnapshot(const ElectionName& name,
                                      const std::optional<Election>& election,
                                      v1::Snapshot::Reason reason);
[[nodiscard]] v1::ResignResponse::Outcome ToProto(ResignOutcome outcome);

[[nodiscard]] google::protobuf::Duration HeartbeatInterval(const Session& session);

}  // namespace tenure
