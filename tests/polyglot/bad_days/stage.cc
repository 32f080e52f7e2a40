#include "tests/polyglot/bad_days/stage.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <thread>

namespace tenure::testing {
namespace {

using google::protobuf::util::TimeUtil;

constexpr size_t kReplicas = 2;

// A time of the database's clock, which is this machine's, by the clock that candidates read.
Moment MomentOf(const google::protobuf::Timestamp& time) {
  const auto ago = std::chrono::system_clock::now().time_since_epoch() -
                   std::chrono::microseconds(TimeUtil::TimestampToMicroseconds(time));
  return Moment::clock::now() - std::chrono::duration_cast<Moment::duration>(ago);
}

}  // namespace

Stage::Stage() : may_start_(std::max(1U, std::thread::hardware_concurrency())) {
  const std::string url = database_.FreshDatabase("tenure");
  // Leases that grow with each bad day would make the days ever longer.
  for (size_t i = 0; i < kReplicas; ++i) {
    replicas_.push_back(
        std::make_unique<Tenured>(url, std::vector<std::string>{"--no-adaptive-leases"}));
  }
}

std::vector<int> Stage::Ports(size_t first) const {
  std::vector<int> ports;
  for (size_t i = 0; i < replicas_.size(); ++i) {
    const std::string endpoint = replicas_[(first + i) % replicas_.size()]->endpoint();
    ports.push_back(std::stoi(endpoint.substr(endpoint.find(':') + 1)));
  }
  return ports;
}

std::unique_ptr<tenure::Observer> Stage::Observe(const std::string& election,
                                                 Witness& witness) const {
  const auto on_event = [&witness](const v1::Event& event) {
    const uint64_t term = event.leadership().term();
    if (event.type() == v1::Event::TYPE_ELECTED) {
      witness.Elected(term, event.leadership().candidate());
    } else if (event.type() == v1::Event::TYPE_VACATED) {
      witness.Vacated(term, event.cause(), MomentOf(event.time()));
    }
  };
  return std::make_unique<tenure::Observer>(
      ObserverOptions{.endpoints = replicas_[0]->endpoint() + "," + replicas_[1]->endpoint(),
                      .names = {election},
                      .from_revision = 1,
                      .on_event = on_event});
}

}  // namespace tenure::testing
