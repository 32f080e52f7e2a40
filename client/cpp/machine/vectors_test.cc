// Plays the vectors of tests/polyglot/vectors, which test the clients of all languages, to the
// machines that ship. Their README says what each field means.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "client/cpp/machine/call_error.h"
#include "client/cpp/machine/client_session.h"
#include "client/cpp/machine/client_testing.h"
#include "client/cpp/machine/observation.h"
#include "client/cpp/machine/service_choice.h"
#include "proto/rich_status.h"

namespace tenure {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

template <typename Message>
Message ToMessage(const Json& json) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(json.dump(), &message);
  EXPECT_TRUE(status.ok()) << status.ToString() << ": " << json;
  return message;
}

Json ToJson(const google::protobuf::Message& message) {
  std::string text;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(message, &text).ok());
  return Json::parse(text);
}

// In the form that ToJson writes: a vector may name the fields in any order.
template <typename Message>
void MakeCanonical(Json& json) {
  json = ToJson(ToMessage<Message>(json));
}

const std::vector<std::string> kCodes = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

grpc::Status ToStatus(const Json& answer) {
  if (!answer.contains("error")) return grpc::Status::OK;
  const Json& error = answer.at("error");
  const auto code = std::ranges::find(kCodes, error.at("code").get<std::string>());
  EXPECT_NE(code, kCodes.end()) << error;
  return RichStatus(static_cast<grpc::StatusCode>(code - kCodes.begin()), "",
                    {.reason = error.value("reason", ""),
                     .metadata = error.value("metadata", std::map<std::string, std::string>()),
                     .retry_delay = milliseconds(error.value("retry_delay_ms", 0))});
}

std::string CodeOf(const grpc::Status& status) { return kCodes.at(status.error_code()); }

std::optional<Duration> DurationOf(const Json& json, const std::string& name) {
  if (!json.contains(name)) return std::nullopt;
  return milliseconds(json.at(name).get<int64_t>());
}

int64_t ToMs(Duration duration) { return duration / milliseconds(1); }
int64_t ToMs(Lease::Time time) { return (time - kStart) / milliseconds(1); }

SeatOptions ToSeatOptions(const Json& add) {
  return {.election = add.at("election"),
          .value = add.value("value", ""),
          .priority = add.value("priority", 0),
          .has_work = add.value("has_work", false),
          .stop_grace = DurationOf(add, "stop_grace_ms"),
          .one_term = add.value("one_term", false)};
}

// One scenario of a session.
class SessionPlayer {
 public:
  SessionPlayer(const Json& options, uint64_t seed)
      : session_({.candidate = options.at("candidate"),
                  .lease_ttl = DurationOf(options, "lease_ttl_ms"),
                  .supersede = options.value("supersede", false)},
                 seed) {}

  // The step's outcome, in the words of the vectors.
  Json Play(const Json& step) {
    now_ = kStart + milliseconds(step.at("at_ms").get<int64_t>());
    if (step.contains("input")) {
      const auto input = step.at("input").items().begin();
      Tell(input.key(), input.value());
    }
    Json said = {{"effects", Json::array()}};
    for (const Effect& effect : session_.Decide(now_)) {
      said["effects"].push_back(
          std::visit([this](const auto& what) { return ToJson(what); }, effect));
    }
    said["news"] = Json::array();
    for (const auto& [seat, event] : session_.TakeNews()) {
      Json news = std::visit([](const auto& what) { return Said(what); }, event);
      news["seat"] = seat;
      said["news"].push_back(news);
    }
    said["gone"] = Json::array();
    for (const uint64_t seat : session_.TakeGone()) {
      if (seats_.contains(seat)) said["gone"].push_back(seat);
    }
    said["believed_until_ms"] = Beliefs();
    const auto wake = session_.NextWake();
    said["wake_ms"] = wake == Lease::Time::max() ? Json() : Json(ToMs(std::max(wake, now_)));
    said["ended"] = session_.Ended() ? Json(CodeOf(session_.end_status())) : Json();
    return said;
  }

 private:
  void Tell(const std::string& what, const Json& told) {
    if (what == "add") {
      seats_.insert(told.at("seat").get<uint64_t>());
      session_.Add(told.at("seat"), ToSeatOptions(told));
    } else if (what == "proclaim") {
      session_.Proclaim(told.at("seat"), told.at("value"), now_);
    } else if (what == "leave") {
      session_.Leave(told.at("seat"), now_);
    } else if (what == "abandon") {
      session_.Abandon(told.at("seat"), now_);
    } else if (what == "work_ended") {
      session_.WorkEnded(told.at("seat"), now_);
    } else if (what == "belief_ended") {
      session_.BeliefEnded(told.at("seat"), now_);
    } else if (what == "end") {
      const auto insist_until = DurationOf(told, "insist_until_ms");
      session_.End(now_, insist_until ? std::optional(kStart + *insist_until) : std::nullopt);
    } else if (what == "campaign_done") {
      const Json response = told.value("response", Json::object());
      session_.OnCampaignDone(told.at("call"), ToStatus(told),
                              ToMessage<v1::CampaignResponse>(response), now_);
    } else if (what == "resign_done") {
      session_.OnResignDone(told.at("call"), ToStatus(told), now_);
    } else if (what == "stream_message") {
      session_.OnStreamMessage(told.at("stream"),
                               ToMessage<v1::KeepAliveResponse>(told.at("message")), now_);
    } else if (what == "stream_closed") {
      session_.OnStreamClosed(told.at("stream"), now_);
    } else if (what == "service_replaced") {
      session_.OnServiceReplaced(now_);
    } else {
      ADD_FAILURE() << "an unknown input: " << what;
    }
  }

  Json ToJson(const SendCampaign& send) {
    v1::CampaignRequest request = send.request;
    Json campaign = {{"call", send.call}};
    if (!request.request_id().empty()) {
      const auto next = static_cast<int>(request_ids_.size()) + 1;
      campaign["request_id"] = request_ids_.try_emplace(request.request_id(), next).first->second;
      request.clear_request_id();
    }
    campaign["request"] = tenure::ToJson(request);
    campaign["patience_ms"] = ToMs(send.patience);
    return {{"campaign", campaign}};
  }
  static Json ToJson(const SendResign& send) {
    return {{"resign",
             {{"call", send.call},
              {"request", tenure::ToJson(send.request)},
              {"patience_ms", ToMs(send.patience)}}}};
  }
  static Json ToJson(const CancelCall& cancel) { return {{"cancel", {{"call", cancel.call}}}}; }
  static Json ToJson(const OpenStream& open) { return {{"open", {{"stream", open.stream}}}}; }
  static Json ToJson(const SendRenewal& send) {
    return {{"renew", {{"stream", send.stream}, {"request", tenure::ToJson(send.request)}}}};
  }
  static Json ToJson(const CloseStream& close) { return {{"close", {{"stream", close.stream}}}}; }
  static Json ToJson(const UseAnotherReplica& move) {
    return {{"another_replica", {{"silent", move.silent}}}};
  }

  static Json Said(const Standing& standing) {
    return {{"event", "standing"}, {"position", standing.place.position()}};
  }
  static Json Said(const SetBlocked&) { return {{"event", "blocked"}}; }
  static Json Said(const Elected& elected) {
    return {{"event", "elected"}, {"term", elected.leadership.term()}};
  }
  static Json Said(const Suspended&) { return {{"event", "suspended"}}; }
  static Json Said(const Resumed&) { return {{"event", "resumed"}}; }
  static Json Said(const HandoverAsked& asked) {
    return {{"event", "handover_asked"}, {"successor", asked.successor}};
  }
  static Json Said(const StopWork&) { return {{"event", "stop_work"}}; }
  static Json Said(const Overrun&) { return {{"event", "overrun"}}; }
  static Json Said(const Lost& lost) {
    return {{"event", "lost"}, {"cause", v1::Cause_Name(lost.cause)}};
  }
  static Json Said(const Troubled& troubled) {
    return {{"event", "troubled"}, {"code", CodeOf(troubled.status)}};
  }
  static Json Said(const Refused& refused) {
    return {{"event", "refused"}, {"code", CodeOf(refused.status)}};
  }

  [[nodiscard]] Json Beliefs() const {
    Json beliefs = Json::object();
    for (const uint64_t seat : seats_) {
      const auto until = session_.BelievedUntil(seat);
      if (until != Lease::Time{}) beliefs[std::to_string(seat)] = ToMs(until);
    }
    return beliefs;
  }

  ClientSession session_;
  Lease::Time now_ = kStart;
  std::set<uint64_t> seats_;
  std::map<std::string, int> request_ids_;  // numbered as they appear
};

// What a step expects, including everything that it leaves out.
Json Expected(const Json& step) {
  Json expected = {{"effects", step.value("effects", Json::array())}};
  for (Json& effect : expected["effects"]) {
    if (effect.contains("campaign")) {
      MakeCanonical<v1::CampaignRequest>(effect["campaign"]["request"]);
    } else if (effect.contains("resign")) {
      MakeCanonical<v1::ResignRequest>(effect["resign"]["request"]);
    } else if (effect.contains("renew")) {
      MakeCanonical<v1::KeepAliveRequest>(effect["renew"]["request"]);
    }
  }
  expected["news"] = step.value("news", Json::array());
  expected["gone"] = step.value("gone", Json::array());
  expected["believed_until_ms"] = step.value("believed_until_ms", Json::object());
  expected["wake_ms"] = step.value("wake_ms", Json());
  expected["ended"] = step.value("ended", Json());
  return expected;
}

// Any time within a range matches it.
void MatchRange(const Json& expected, Json& time) {
  if (!expected.is_array() || !time.is_number()) return;
  if (expected.at(0) <= time && time <= expected.at(1)) time = expected;
}

void PlaySession(const Json& scenario, uint64_t seed) {
  SessionPlayer player(scenario.at("options"), seed);
  for (const Json& step : scenario.at("steps")) {
    const Json expected = Expected(step);
    Json said = player.Play(step);
    MatchRange(expected.at("wake_ms"), said.at("wake_ms"));

    // The order of fields does not matter.
    ASSERT_EQ(nlohmann::json(said), nlohmann::json(expected))
        << "in the step " << step.dump() << "\nwhich should say " << said.dump();
  }
}

std::vector<std::string> Selectors(const Json& selectors) {
  std::vector<std::string> texts;
  for (const Json& selector : selectors) {
    texts.push_back(ToJson(ToMessage<v1::Selector>(selector)).dump());
  }
  return texts;
}

void PlayObservation(const Json& scenario) {
  const Json& wish = scenario.at("wish");
  Observation::Wish wanted{.names = wish.at("names"), .prefix = wish.value("prefix", false)};
  if (wish.contains("from_revision")) wanted.from_revision = wish.at("from_revision");
  Observation observation(wanted);
  const std::vector<std::string> verdicts = {"news", "known", "gap"};
  for (const Json& step : scenario.at("steps")) {
    SCOPED_TRACE(step.dump());
    if (step.contains("message")) {
      const auto message = ToMessage<v1::ObserveResponse>(step.at("message"));
      const auto verdict = static_cast<size_t>(observation.Note(message));
      ASSERT_EQ(verdicts.at(verdict), step.at("verdict").get<std::string>());
    }
    if (!step.contains("selectors")) continue;
    const Json asked = ToJson(observation.Request()).value("selectors", Json::array());
    ASSERT_THAT(Selectors(asked),
                ::testing::UnorderedElementsAreArray(Selectors(step.at("selectors"))));
  }
}

// One scenario is one question.
void PlayService(const Json& scenario) {
  const KnownService known{scenario.value("known", ""), scenario.value("pinned", false)};
  std::vector<EndpointAnswer> answers;
  for (const Json& answer : scenario.at("answers")) {
    answers.push_back({answer.at("endpoint"), std::nullopt});
    if (answer.contains("service_id")) answers.back().service_id = answer.at("service_id");
  }
  const auto chosen = ChooseService(known, answers);
  if (!chosen) {
    const Json error = scenario.value("error", Json::object());
    EXPECT_EQ(CodeOf(chosen.error()), error.value("code", ""));
    EXPECT_EQ(ReasonOf(chosen.error()), error.value("reason", ""));
    if (error.contains("message")) {
      EXPECT_EQ(chosen.error().error_message(), error.at("message"));
    }
    return;
  }
  EXPECT_EQ(*chosen, scenario.value("chosen", ""));
  Json not_used = Json::array();
  for (const EndpointAnswer& answer : answers) {
    if (answer.service_id.value_or(*chosen) != *chosen) not_used.push_back(answer.endpoint);
  }
  EXPECT_EQ(not_used, scenario.value("not_used", Json::array()));
}

// Puts the steps of its opening first.
void Open(Json& scenario, const Json& vectors) {
  Json steps = vectors.at("openings").at(scenario.at("opening").get<std::string>());
  for (const Json& step : scenario.at("steps")) steps.push_back(step);
  scenario["steps"] = steps;
}

Json Scenarios(const std::string& machine) {
  Json scenarios = Json::array();
  for (const auto& file : std::filesystem::directory_iterator(TENURE_VECTORS_DIR)) {
    if (file.path().extension() != ".json") continue;
    const Json vectors = Json::parse(std::ifstream(file.path()));
    if (vectors.at("machine") != machine) continue;
    for (Json scenario : vectors.at("scenarios")) {
      if (scenario.contains("opening")) Open(scenario, vectors);
      if (!scenario.contains("options")) scenario["options"] = vectors.value("options", Json());
      scenarios.push_back(scenario);
    }
  }
  EXPECT_FALSE(scenarios.empty());
  return scenarios;
}

TEST(VectorsTest, TheSessionFollowsTheVectors) {
  for (const Json& scenario : Scenarios("session")) {
    // The outcome must not depend on random numbers.
    for (const uint64_t seed : {1, 2, 3, 4, 5}) {
      SCOPED_TRACE(scenario.at("name").get<std::string>());
      ASSERT_NO_FATAL_FAILURE(PlaySession(scenario, seed));
    }
  }
}

TEST(VectorsTest, TheObservationFollowsTheVectors) {
  for (const Json& scenario : Scenarios("observation")) {
    SCOPED_TRACE(scenario.at("name").get<std::string>());
    ASSERT_NO_FATAL_FAILURE(PlayObservation(scenario));
  }
}

TEST(VectorsTest, TheServiceIsChosenByTheVectors) {
  for (const Json& scenario : Scenarios("service")) {
    SCOPED_TRACE(scenario.at("name").get<std::string>());
    PlayService(scenario);
  }
}

TEST(ServiceChoiceTest, AMajorityThatAgreesNeedNotWaitForTheRest) {
  const auto answers = [](const std::vector<std::string>& ids) {
    std::vector<EndpointAnswer> all;
    for (const std::string& id : ids) {
      all.push_back({"e", id.empty() ? std::nullopt : std::optional(id)});
    }
    return all;
  };

  EXPECT_TRUE(MostAgree({}, answers({"1", "1", ""})));
  EXPECT_TRUE(MostAgree({}, answers({"2", "1", "1"})));
  EXPECT_TRUE(MostAgree({"1"}, answers({"1", "1", ""})));
  EXPECT_FALSE(MostAgree({}, answers({"1", "", ""})));
  EXPECT_FALSE(MostAgree({}, answers({"1", "2", ""})));
  EXPECT_FALSE(MostAgree({}, answers({"1", "1", "", ""}))) << "half is not enough";
  EXPECT_TRUE(MostAgree({"1"}, answers({"2", "2", ""})));
  EXPECT_FALSE(MostAgree({"1", true}, answers({"2", "2", ""}))) << "the third may belong to 1";
}

}  // namespace
}  // namespace tenure
