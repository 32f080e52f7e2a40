// Parses and checks operators' requests. Each function returns the errors that the proto lists for
// its RPC as INVALID_ARGUMENT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/law/law.h"
#include "server/engine/purges.h"
#include "tenure/v1/admin.pb.h"

namespace tenure::rpc {

// `identity` is the caller, according to the connection.
[[nodiscard]] Result<Appoint> Parse(const v1::AppointRequest& request, std::string identity);
[[nodiscard]] Result<Depose> Parse(const v1::DeposeRequest& request, std::string identity);
[[nodiscard]] Result<Pause> Parse(const v1::PauseRequest& request, std::string identity);
[[nodiscard]] Result<Pause> Parse(const v1::ResumeRequest& request, std::string identity);
[[nodiscard]] Result<Configure> Parse(const v1::UpdateElectionRequest& request,
                                      std::string identity);
[[nodiscard]] Result<Delete> Parse(const v1::DeleteElectionRequest& request, std::string identity);

// `unused_min` is the smallest `unused_for` allowed.
[[nodiscard]] Result<engine::PurgeOrder> Parse(const v1::PurgeElectionsRequest& request,
                                               std::string identity, Duration unused_min);

// How much to read: 100 for 0, at most 1000. Error: kInvalidPage.
[[nodiscard]] Result<size_t> ParsePageSize(int32_t page_size);
// The number that a page begins with: `first` without a token. Error: kInvalidPage.
[[nodiscard]] Result<uint64_t> ParsePageNumber(std::string_view page_token, uint64_t first);

}  // namespace tenure::rpc
