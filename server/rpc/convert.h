// Between the contract's messages and the law's types. Pure.
#pragma once

#include <optional>

#include "core/law.h"
#include "core/types.h"
#include "proto/time.h"
#include "storage/store.h"
#include "tenure/v1/admin.pb.h"
#include "tenure/v1/election.pb.h"

namespace tenure::rpc {

using tenure::ToProto;  // durations and times

[[nodiscard]] v1::Cause ToProto(Cause cause);
[[nodiscard]] v1::Session ToProto(const Session& session);
[[nodiscard]] v1::Leadership ToProto(const Leadership& leadership);
[[nodiscard]] v1::Event ToProto(const Event& event);
[[nodiscard]] v1::Snapshot ToSnapshot(const ElectionName& name,
                                      const std::optional<Election>& election,
                                      v1::Snapshot::Reason reason);
[[nodiscard]] v1::ResignResponse::Outcome ToProto(ResignOutcome outcome);

[[nodiscard]] google::protobuf::Duration HeartbeatInterval(const Session& session);

// For operators.
[[nodiscard]] v1::Election ToProto(const Election& election);
// With what is left of the leader's lease. A leader whose lease is over is none.
[[nodiscard]] v1::Election ToProto(const ElectionView& view);
[[nodiscard]] v1::Candidate ToProto(const QueueEntry& entry);  // without its position
[[nodiscard]] v1::TermRecord ToProto(const TermRecord& record);
[[nodiscard]] v1::Change ToProto(const AdminRecord& record);
[[nodiscard]] v1::SessionInfo ToProto(const SessionView& session);

}  // namespace tenure::rpc
