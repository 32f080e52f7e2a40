// The id of a service: which database its replicas work on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace tenure::engine {

// 32 lower-case hexadecimal digits, derived from the random key of a database (Store::SessionKey):
// HMAC-SHA256, cut to 128 bits. It does not reveal the key. Two databases share it only if one is a
// copy of the other.
[[nodiscard]] std::string ServiceIdOf(std::string_view session_key);

// Why the database with this key (empty: it has none yet) must not be used if only the service
// `wanted` may be (empty: any). Nothing if it may be used.
[[nodiscard]] std::optional<Error> WrongService(std::string_view session_key,
                                                const std::string& wanted);
// The error of a process that has served the database with the key `served`, and now finds the one
// with the key `found` in its place.
[[nodiscard]] Error ReplacedService(std::string_view found, std::string_view served);

}  // namespace tenure::engine
