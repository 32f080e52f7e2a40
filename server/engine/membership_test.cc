// Two replicas find each other in the table that they share.
#include "server/engine/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/engine/engine_testing.h"

namespace tenure::engine {
namespace {

using namespace tenure::testing;

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MembershipTest : public ::testing::Test {
 protected:
  struct Replica {
    Replica(Store& store, ManualScheduler& scheduler, char id)
        : self{std::string(16, id), std::string(1, id) + ":7070"},
          membership(store, scheduler, self, [this](const Result<std::vector<Peer>>& found) {
            ++looks;
            failed = !found;
            if (found) others = *found;
          }) {}

    const Peer self;
    std::vector<Peer> others;
    int looks = 0;
    bool failed = false;  // the last one
    Membership membership;
  };

  ManualScheduler scheduler_;
  Database database_{scheduler_};
  FaultyStore store_{database_.store()};
  Replica a_{store_, scheduler_, 'a'};
  Replica b_{store_, scheduler_, 'b'};
};

TEST_F(MembershipTest, ReplicasFindEachOther) {
  a_.membership.Start();
  scheduler_.Advance(1s);
  EXPECT_THAT(a_.others, IsEmpty());

  b_.membership.Start();
  scheduler_.Advance(5s);

  EXPECT_THAT(a_.others, ElementsAre(b_.self));
  EXPECT_THAT(b_.others, ElementsAre(a_.self));
}

TEST_F(MembershipTest, OneThatSaysNothingAnyMoreIsGone) {
  a_.membership.Start();
  ASSERT_TRUE(store_.Announce(b_.self, 1s, 1));
  scheduler_.Advance(1s);
  EXPECT_THAT(a_.others, ElementsAre(b_.self));

  scheduler_.Advance(25s);

  EXPECT_THAT(a_.others, IsEmpty());
}

TEST_F(MembershipTest, ItLooksSoonWhenItIsTold) {
  a_.membership.Start();
  scheduler_.Advance(10ms);
  ASSERT_EQ(a_.looks, 1);

  for (int i = 0; i < 100; ++i) a_.membership.LookSoon();
  scheduler_.Advance(80ms);
  EXPECT_EQ(a_.looks, 1);
  scheduler_.Advance(20ms);

  EXPECT_EQ(a_.looks, 2);
}

TEST_F(MembershipTest, WhatItIsToldWhileItLooksIsNotForgotten) {
  store_.After([&](const std::string&) {
    store_.After({});
    a_.membership.LookSoon();
  });
  a_.membership.Start();

  scheduler_.Advance(100ms);

  EXPECT_EQ(a_.looks, 2);
}

TEST_F(MembershipTest, WithoutItsDatabaseItKeepsWhomItKnows) {
  a_.membership.Start();
  ASSERT_TRUE(store_.Announce(b_.self, 1s, 1));
  scheduler_.Advance(1s);

  store_.FailAll();
  scheduler_.Advance(60s);
  EXPECT_THAT(a_.others, ElementsAre(b_.self));

  store_.Heal();
  scheduler_.Advance(5s);
  EXPECT_THAT(a_.others, IsEmpty());
}

TEST_F(MembershipTest, OneThatCannotWriteTriesAgainSoonAndSaysSo) {
  a_.membership.Start();
  scheduler_.Advance(1s);
  ASSERT_EQ(a_.looks, 1);
  store_.FailNext(3, "Announce");

  a_.membership.LookSoon();
  scheduler_.Advance(10ms);
  EXPECT_EQ(a_.looks, 2);
  EXPECT_TRUE(a_.failed);
  for (int i = 0; i < 100; ++i) a_.membership.LookSoon();
  scheduler_.Advance(500ms);
  EXPECT_EQ(a_.looks, 4);
  EXPECT_TRUE(a_.failed);
  scheduler_.Advance(250ms);

  EXPECT_EQ(a_.looks, 5);
  EXPECT_FALSE(a_.failed);
}

}  // namespace
}  // namespace tenure::engine
