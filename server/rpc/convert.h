// Converts to the contract's messages for operators. Pure.
#pragma once

#include "core/types.h"
#include "proto/convert.h"
#include "storage/store.h"
#include "tenure/v1/admin.pb.h"

namespace tenure::rpc {

using tenure::ToProto;  // those for candidates and observers, too

[[nodiscard]] v1::Election ToProto(const Election& election);
// With what is left of the leader's lease. A leader whose session has ended is omitted.
[[nodiscard]] v1::Election ToProto(const ElectionView& view);
[[nodiscard]] v1::Candidate ToProto(const QueueEntry& entry);  // without its position
[[nodiscard]] v1::TermRecord ToProto(const TermRecord& record);
[[nodiscard]] v1::Change ToProto(const AdminRecord& record);
[[nodiscard]] v1::SessionInfo ToProto(const SessionView& session);

}  // namespace tenure::rpc
