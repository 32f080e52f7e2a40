// The id of a service: which database its replicas work on.
#pragma once

#include <string>
#include <string_view>

namespace tenure::engine {

// 32 lower-case hexadecimal digits, derived from the random key of a database (Store::SessionKey):
// HMAC-SHA256, cut to 128 bits. It does not reveal the key. Two databases share it only if one is a
// copy of the other.
[[nodiscard]] std::string ServiceIdOf(std::string_view session_key);

}  // namespace tenure::engine
