// Terms of one election, taken one after the other: none may be given twice.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/tenured.h"

namespace tenure::testing {

// The term of `orders` that a server shows, as soon as it answers at all.
inline uint64_t FirstTermRead(Tenured& server) {
  v1::LeaderRequest request;
  request.set_election("orders");
  v1::LeaderResponse response;
  EXPECT_TRUE(Eventually([&] {
    grpc::ClientContext context;
    return server.stub().Leader(&context, request, &response).ok();
  }));
  return response.term();
}

class Terms {
 public:
  explicit Terms(std::string election = "orders") : election_(std::move(election)) {}

  // Takes the next term as soon as the service grants one, and returns it.
  uint64_t Take(Tenured& server) {
    uint64_t term = 0;
    EXPECT_TRUE(Eventually(
        [&] {
          grpc::ClientContext context;
          v1::CampaignResponse response;
          const auto request = ToRequest(
              {.election = election_, .candidate = "c", .lease_ttl = 2s, .supersede = true});
          if (!server.stub().Campaign(&context, request, &response).ok()) return false;
          term = response.elected().term();
          return term > 0;
        },
        2 * kPatience))
        << server.process().Errors();
    EXPECT_TRUE(given_.insert(term).second) << "term " << term << " was given twice";
    EXPECT_EQ(*given_.rbegin(), term) << "terms rise";
    return term;
  }

  [[nodiscard]] const std::set<uint64_t>& given() const { return given_; }

 private:
  const std::string election_;
  std::set<uint64_t> given_;
};

}  // namespace tenure::testing
