#include "server/engine/history/service_id.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace tenure::engine {
namespace {

constexpr std::string_view kPurpose = "tenure.v1 service";
constexpr size_t kServiceIdBytes = 16;

}  // namespace

std::string ServiceIdOf(std::string_view session_key) {
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), session_key.data(), static_cast<int>(session_key.size()),
       reinterpret_cast<const uint8_t*>(kPurpose.data()), kPurpose.size(), digest.data(), &size);
  std::string id;
  for (size_t i = 0; i < kServiceIdBytes; ++i) id += fmt::format("{:02x}", digest[i]);
  return id;
}

std::optional<Error> WrongService(std::string_view session_key, const std::string& wanted) {
  if (wanted.empty()) return std::nullopt;
  const std::string id = session_key.empty() ? "" : ServiceIdOf(session_key);
  if (id == wanted) return std::nullopt;
  return Error{Reason::kStoreUnavailable, (id.empty() ? "the database belongs to no service yet"
                                                      : "the database belongs to service " + id) +
                                              ", and --service-id is " + wanted +
                                              "; correct --store or --service-id"};
}

Error ReplacedService(std::string_view found, std::string_view served) {
  return {Reason::kStoreUnavailable,
          "the database belongs to service " + ServiceIdOf(found) + ", and this replica serves " +
              ServiceIdOf(served) +
              "; correct --store, or restart it to serve the other (after tenured "
              "bump-terms, if that is an older copy of this one)"};
}

}  // namespace tenure::engine
