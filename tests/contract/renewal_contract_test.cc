// Renewals that are decided from memory, held against every store. On MariaDB they are one
// statement that commits by itself.
#include <functional>
#include <string>
#include <vector>

#include "core/limits.h"
#include "tests/contract/store_contract.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

using Memory = Committed::Memory;

class RenewalContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    Stand("e", a_, "a");
    Stand("f", b_, "b");
  }

  // What the store says of the sessions now.
  TransactionState Load(Store& store) {
    TransactionState state;
    EXPECT_TRUE(
        store.Transact(renewed_together_, {}, [&](TransactionState& loaded) { state = loaded; }));
    return state;
  }
  TransactionState Load() { return Load(*store_); }

  // Renews them, as decided from `state` by the clock of now. What is busy is left alone.
  Memory Renew(TransactionState state) {
    state.now = store_->FindDueWork(1).value().now;
    refused_.clear();
    const auto committed = store_->Transact(
        renewed_together_, {.repeatable = true, .remembered = &state},
        [&](TransactionState& transaction) {
          refused_.clear();
          for (const SessionId& id : renewed_together_.sessions) {
            if (transaction.busy_sessions.contains(id) || !tenure::Renew(transaction, id)) {
              refused_.push_back(id);
            }
          }
        });
    EXPECT_TRUE(committed) << committed.error().message;
    if (!committed) return Memory::kUnused;
    renewed_ = committed->transaction;
    return committed->memory;
  }

  // From what the store says of them now.
  bool IsRenewedFromMemory() {
    for (int tries = 0; tries < kTries; ++tries) {
      if (Renew(Load()) == Memory::kHeld) return true;
    }
    return false;
  }

  // Of session `b_`, by somebody else.
  void Change(const std::function<void(TransactionState&)>& change) {
    ASSERT_TRUE(store_->Transact({{}, {b_}}, {}, change));
  }

  // `b_` is not as remembered: it is as it was afterwards, and `a_` is renewed all the same.
  void ExpectThatOnlyTheOtherIsRenewed(const TransactionState& remembered) {
    const TransactionState before = Load();

    EXPECT_EQ(Renew(remembered), Memory::kRefused);

    EXPECT_THAT(refused_, ElementsAre(b_));
    const TransactionState after = Load();
    EXPECT_GT(after.sessions.at(a_).expires_at, before.sessions.at(a_).expires_at);
    EXPECT_EQ(after.sessions.at(b_).expires_at, before.sessions.at(b_).expires_at);
  }

  const SessionId a_ = NewSessionId();
  const SessionId b_ = NewSessionId();
  LockSet renewed_together_{{}, {a_, b_}};
  TransactionState renewed_;
  std::vector<SessionId> refused_;
};

INSTANTIATE_TEST_SUITE_P(Stores, RenewalContract,
                         ::testing::Values(Kind::kSqliteMemory, Kind::kSqliteFile, Kind::kServer),
                         KindName);

TEST_P(RenewalContract, LeasesEndLater) {
  const TransactionState before = Load();

  ASSERT_TRUE(IsRenewedFromMemory());

  const TransactionState after = Load();
  for (const SessionId& id : renewed_together_.sessions) {
    EXPECT_GT(after.sessions.at(id).expires_at, before.sessions.at(id).expires_at);
    EXPECT_EQ(after.sessions.at(id), renewed_.sessions.at(id));
  }
}

TEST_P(RenewalContract, LeasesOfSeveralLengthsEndLaterTogether) {
  Change([&](TransactionState& it) { it.sessions.at(b_).lease_ttl = 80s; });
  const TransactionState before = Load();

  ASSERT_TRUE(IsRenewedFromMemory());

  const TransactionState after = Load();
  EXPECT_EQ(after.sessions.at(b_).expires_at, after.sessions.at(a_).expires_at + Duration(20s));
  EXPECT_GT(after.sessions.at(a_).expires_at, before.sessions.at(a_).expires_at);
}

TEST_P(RenewalContract, ASessionThatHasEndedStaysSo) {
  const TransactionState before = Load();
  Change([&](TransactionState& it) { EXPECT_TRUE(EndSession(it, b_, Cause::kSessionClosed)); });

  ExpectThatOnlyTheOtherIsRenewed(before);
}

TEST_P(RenewalContract, ALeaseThatIsOverStaysSo) {
  const TransactionState before = Load();
  Change([&](TransactionState& it) { it.sessions.at(b_).expires_at = it.now; });

  ExpectThatOnlyTheOtherIsRenewed(before);
}

TEST_P(RenewalContract, ALeaseThatIsLongerNowEndsAsItsLengthSays) {
  const TransactionState before = Load();
  Change([&](TransactionState& it) { it.sessions.at(b_).lease_ttl = 80s; });

  EXPECT_EQ(Renew(before), Memory::kRefused);

  EXPECT_EQ(renewed_.sessions.at(b_).expires_at, renewed_.now + Duration(80s));
}

TEST_P(RenewalContract, ALeaseThatWasChangedAndChangedBackIsNoticed) {
  const TransactionState before = Load();
  Change([&](TransactionState& it) { it.sessions.at(b_).lease_ttl_since = it.now; });

  EXPECT_EQ(Renew(before), Memory::kRefused);
}

TEST_P(RenewalContract, ALeaseThatEndsLaterAlreadyIsKept) {
  const TransactionState before = Load();
  DbTime later;
  Change([&](TransactionState& it) { later = it.sessions.at(b_).expires_at = it.now + 70s; });

  (void)Renew(before);

  EXPECT_EQ(Load().sessions.at(b_).expires_at, later);
}

TEST_P(RenewalContract, AClockThatWasReckonedWrongIsRefused) {
  for (const Duration off : {Duration(-10s), Duration(10s)}) {
    TransactionState state = Load();
    const DbTime reckoned = state.now = state.now + off;

    const auto committed = store_->Transact(
        renewed_together_, {.repeatable = true, .remembered = &state}, [&](TransactionState& it) {
          if (it.now != reckoned) return;
          for (const SessionId& id : renewed_together_.sessions) EXPECT_TRUE(tenure::Renew(it, id));
        });

    ASSERT_TRUE(committed);
    EXPECT_EQ(committed->memory, Memory::kRefused);
    const TransactionState after = Load();
    for (const SessionId& id : renewed_together_.sessions) {
      EXPECT_LE(after.sessions.at(id).expires_at, after.now + Duration(60s));
    }
  }
}

// --- On a server ---

uint64_t StatusOf(const std::string& counter) {
  const std::string line = Server().Query("SHOW GLOBAL STATUS LIKE '" + counter + "'").output;
  return std::stoull(line.substr(line.find('\t') + 1));
}

class RenewalOnServerTest : public RenewalContract {};

INSTANTIATE_TEST_SUITE_P(Stores, RenewalOnServerTest, ::testing::Values(Kind::kServer), KindName);

TEST_P(RenewalOnServerTest, ALockedSessionIsBusyAndDelaysNobody) {
  const TransactionState state = Load();
  const auto other = Open();

  ASSERT_TRUE(other->Transact({{}, {b_}}, {}, [&](TransactionState&) {
    const uint64_t waits = StatusOf("Innodb_row_lock_waits");
    EXPECT_EQ(Renew(state), Memory::kRefused);
    EXPECT_EQ(StatusOf("Innodb_row_lock_waits"), waits);
  }));

  EXPECT_THAT(refused_, ElementsAre(b_));
  const TransactionState after = Load();
  EXPECT_GT(after.sessions.at(a_).expires_at, state.sessions.at(a_).expires_at);
  EXPECT_EQ(after.sessions.at(b_).expires_at, state.sessions.at(b_).expires_at);
}

// Even where reading all rows would be cheaper than looking for those of the batch.
TEST_P(RenewalOnServerTest, ALockedSessionThatIsNotRenewedDoesNotMatter) {
  const SessionId locked = NewSessionId();
  Stand("g", locked, "locked");
  for (int i = 0; i < 20; ++i) {
    renewed_together_.sessions.push_back(NewSessionId());
    Stand("g", renewed_together_.sessions.back(), "c");
  }
  const auto other = Open();

  ASSERT_TRUE(other->Transact({{}, {locked}}, {},
                              [&](TransactionState&) { EXPECT_TRUE(IsRenewedFromMemory()); }));
}

TEST_P(RenewalOnServerTest, OnMariaDbItIsOneStatement) {
  if (ServerName() != "MariaDb") GTEST_SKIP() << "MySQL waits a second for a locked row, at least";
  for (int tries = 0; tries < kTries; ++tries) {
    const uint64_t commits = StatusOf("Com_commit");
    const uint64_t updates = StatusOf("Com_update");
    if (Renew(Load()) != Memory::kHeld) continue;

    EXPECT_EQ(StatusOf("Com_update"), updates + 1);
    EXPECT_EQ(StatusOf("Com_commit"), commits);
    return;
  }
  FAIL() << "not decided from memory";
}

TEST_P(RenewalContract, ALeaseThatIsNotRenewedInTheBatchIsNotExtended) {
  TransactionState state = Load();
  const TransactionState before = state;
  state.now = store_->FindDueWork(1).value().now;

  ASSERT_TRUE(store_->Transact(
      renewed_together_, {.repeatable = true, .remembered = &state},
      [&](TransactionState& transaction) { EXPECT_TRUE(tenure::Renew(transaction, a_)); }));

  const TransactionState after = Load();
  EXPECT_GT(after.sessions.at(a_).expires_at, before.sessions.at(a_).expires_at);
  EXPECT_EQ(after.sessions.at(b_).expires_at, before.sessions.at(b_).expires_at);
}

}  // namespace
}  // namespace tenure::testing
