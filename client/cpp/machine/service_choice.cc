#include "client/cpp/machine/service_choice.h"

#include <algorithm>
#include <utility>

#include "proto/rich_status.h"

namespace tenure {
namespace {

// The endpoints that answered with the same id.
struct Group {
  std::string id;
  std::vector<std::string> endpoints;
};

// In the order of their first endpoints.
std::vector<Group> GroupsOf(const std::vector<EndpointAnswer>& answers) {
  std::vector<Group> groups;
  for (const EndpointAnswer& answer : answers) {
    if (!answer.service_id) continue;
    auto group = std::ranges::find(groups, *answer.service_id, &Group::id);
    if (group == groups.end()) group = groups.insert(groups.end(), {*answer.service_id, {}});
    group->endpoints.push_back(answer.endpoint);
  }
  return groups;
}

bool IsMajority(const Group& group, const std::vector<EndpointAnswer>& answers) {
  return 2 * group.endpoints.size() > answers.size();
}

// The group with more endpoints than any other; null if there is none.
const Group* LargestOf(const std::vector<Group>& groups) {
  const Group* largest = nullptr;
  bool tie = false;
  for (const Group& group : groups) {
    const size_t most = largest == nullptr ? 0 : largest->endpoints.size();
    tie = group.endpoints.size() == most || (tie && group.endpoints.size() < most);
    if (group.endpoints.size() > most) largest = &group;
  }
  return tie ? nullptr : largest;
}

// "a:7070, b:7070 to 1f..., c:7070 to 9e..."
std::string Text(const std::vector<Group>& groups) {
  std::string text;
  for (const Group& group : groups) {
    for (const std::string& endpoint : group.endpoints) {
      text += (text.empty() ? "" : ", ") + endpoint;
    }
    text += " to " + group.id;
  }
  return text;
}

tl::unexpected<grpc::Status> Wrong(const std::string& message) {
  return tl::unexpected(
      RichStatus(grpc::StatusCode::FAILED_PRECONDITION, message, {.reason = "WRONG_SERVICE"}));
}

}  // namespace

tl::expected<std::string, grpc::Status> ChooseService(const KnownService& known,
                                                      const std::vector<EndpointAnswer>& answers) {
  const std::vector<Group> groups = GroupsOf(answers);
  const Group* const largest = LargestOf(groups);
  if (!known.pinned && largest != nullptr && IsMajority(*largest, answers)) return largest->id;
  if (!known.id.empty()) {
    const bool all_answered = std::ranges::all_of(
        answers, [](const EndpointAnswer& answer) { return answer.service_id.has_value(); });
    const bool answers_exist = std::ranges::find(groups, known.id, &Group::id) != groups.end();
    if (answers_exist || !all_answered) return known.id;
    if (known.pinned) {
      return Wrong("no endpoint belongs to service " + known.id + ": " + Text(groups) +
                   "; correct the endpoints or service_id");
    }
  } else if (groups.empty()) {
    return tl::unexpected(
        grpc::Status(grpc::StatusCode::UNAVAILABLE, "no replica of the service can be reached"));
  } else if (largest != nullptr) {
    return largest->id;
  }
  return Wrong("the endpoints belong to different services: " + Text(groups) +
               "; set service_id to the right one");
}

bool MostAgree(const KnownService& known, const std::vector<EndpointAnswer>& answers) {
  const std::vector<Group> groups = GroupsOf(answers);
  const Group* const largest = LargestOf(groups);
  return largest != nullptr && IsMajority(*largest, answers) &&
         (!known.pinned || known.id == largest->id);
}

}  // namespace tenure
