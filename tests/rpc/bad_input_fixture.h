// Bad input is refused with one precise code and reason, and changes nothing.
#pragma once

#include <set>
#include <string>

#include "tests/rpc/service_fixture.h"

namespace tenure::testing {

struct Refusal {
  grpc::StatusCode code;
  std::string reason;

  bool operator==(const Refusal&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
    return out << refusal.code << " " << refusal.reason;
  }
};

inline Refusal Refused(grpc::StatusCode code, const std::string& reason) { return {code, reason}; }

// A leader and a waiter stand in election "e"; afterwards they still do, exactly as before.
class BadInputTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    leader_ = Campaign(A(), {"e", "leader", "", "value"}).session().session_id();
    waiter_ = Campaign(A(), {"e", "waiter"}).session().session_id();
    before_ = Everything();
  }

  void TearDown() override { EXPECT_EQ(Everything(), before_); }

  // Every election there is, and the waiter's place. Snapshots of different elections come in any
  // order.
  virtual std::string Everything() {
    Observer observer(A(), Prefix(""));
    observer.WaitUntilOpen();
    std::multiset<std::string> elections;
    for (auto message : observer.Messages()) {
      message.clear_service_id();  // of whichever comes first
      elections.insert(message.ShortDebugString());
    }
    std::string text;
    for (const std::string& election : elections) text += election + "\n";
    return text + std::to_string(Campaign(A(), {"e", "", waiter_}).standing().position());
  }

  Refusal Try(const v1::CampaignRequest& request) {
    grpc::ClientContext context;
    v1::CampaignResponse response;
    return ToRefusal(A().stub().Campaign(&context, request, &response));
  }
  Refusal Try(const CampaignArguments& arguments) { return Try(ToRequest(arguments)); }

  Refusal TryProclaim(const std::string& session, const std::string& election, uint64_t term,
                      const std::string& value = "v") {
    grpc::ClientContext context;
    v1::ProclaimRequest request;
    request.set_session_id(session);
    request.set_election(election);
    request.set_term(term);
    request.set_value(value);
    v1::ProclaimResponse response;
    return ToRefusal(A().stub().Proclaim(&context, request, &response));
  }

  Refusal TryResign(const std::string& session, const std::string& election,
                    std::optional<uint64_t> term = {}) {
    grpc::ClientContext context;
    v1::ResignRequest request;
    request.set_session_id(session);
    request.set_election(election);
    if (term) request.set_term(*term);
    v1::ResignResponse response;
    return ToRefusal(A().stub().Resign(&context, request, &response));
  }

  Refusal TryObserve(const v1::ObserveRequest& request) {
    grpc::ClientContext context;
    const auto reader = A().stub().Observe(&context, request);
    v1::ObserveResponse response;
    EXPECT_FALSE(reader->Read(&response));
    return ToRefusal(reader->Finish());
  }

  Refusal TryKeepAlive(const std::vector<std::string>& sessions) {
    grpc::ClientContext context;
    const auto stream = A().stub().KeepAlive(&context);
    v1::KeepAliveRequest request;
    for (const std::string& session : sessions) request.add_session_ids(session);
    stream->Write(request);
    v1::KeepAliveResponse response;
    while (stream->Read(&response)) continue;
    return ToRefusal(stream->Finish());
  }

  static Refusal ToRefusal(const grpc::Status& status) {
    EXPECT_FALSE(status.error_message().empty());
    return {status.error_code(), ReasonOf(status)};
  }

  const std::string nobody_ = "0123456789abcdef0123456789abcdef";
  std::string leader_;
  std::string waiter_;
  std::string before_;
};

}  // namespace tenure::testing
