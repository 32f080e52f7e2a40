// Operators' calls against running servers, whose logs may show no session's secret.
#pragma once

#include "tests/rpc/service_fixture.h"
#include "tests/support/administration.h"

namespace tenure::testing {

class AdminTest : public ServiceTest {
 protected:
  void TearDown() override {
    for (const auto& server : servers_) {
      EXPECT_TRUE(server->process().Running()) << server->process().Errors();
      const std::string log = server->process().Output() + server->process().Errors();
      for (const std::string& secret : secrets_) {
        EXPECT_THAT(log, ::testing::Not(::testing::HasSubstr(secret)));
      }
    }
  }

  // As Campaign; its session is kept secret.
  v1::CampaignResponse Stand(Tenured& server, const CampaignArguments& arguments) {
    const auto response = Campaign(server, arguments);
    secrets_.push_back(SecretOf(response));
    return response;
  }

  // The private half of a session's id.
  static std::string SecretOf(const v1::CampaignResponse& response) {
    return response.session().session_id().substr(16);
  }
  static std::string IdOf(const v1::CampaignResponse& response) {
    return response.session().session_id();
  }

  std::vector<std::string> secrets_;
};

// Expected to be the same on both replicas.
inline std::vector<std::string> EventsOf(Tenured& server, const std::string& election) {
  Observer observer(server, Election(election, 1));
  observer.WaitUntilOpen();
  return Texts(observer.WaitForEvents(Leader(server, election).revision()));
}

}  // namespace tenure::testing
