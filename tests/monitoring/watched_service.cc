#include "tests/monitoring/watched_service.h"

namespace tenure::testing {

WatchedService::WatchedService()
    : prometheus_({replicas_[0].http_endpoint(), replicas_[1].http_endpoint(),
                   replicas_[2].http_endpoint()},
                  std::filesystem::path(TENURE_SOURCE_DIR) / "helm/tenure/alerts/tenure.yaml") {}

std::string WatchedService::endpoints() const {
  return replicas_[0].endpoint() + "," + replicas_[1].endpoint() + "," + replicas_[2].endpoint();
}

}  // namespace tenure::testing
