// The fixture of the contract suites: every store behind storage/store.h in turn. SQLite in memory
// and in a file, and the database server of tests/support/database_server.h.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/law/law.h"
#include "storage/open_store.h"
#include "tests/contract/server.h"

namespace tenure::testing {

// Tries to commit from memory: a machine that stalls makes what is remembered too old.
inline constexpr int kTries = 20;

enum class Kind {
  kSqliteMemory,
  kSqliteFile,
  kServer,
};

inline std::string KindName(const ::testing::TestParamInfo<Kind>& info) {
  switch (info.param) {
    case Kind::kSqliteMemory: return "SqliteMemory";
    case Kind::kSqliteFile: return "SqliteFile";
    case Kind::kServer: return ServerName();
  }
  return "";
}

// Whether several servers take writes. Each statement is then a message of its own.
inline bool SeveralServersWrite() { return ServerName() == "Galera"; }

// The reason of an error; nothing on success, so that a test can compare it and continue.
template <typename T>
std::optional<Reason> ReasonOf(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().reason);
}

// One detail of an error, likewise.
template <typename T>
std::string DetailOf(const Result<T>& result, const std::string& key) {
  return result ? "" : result.error().metadata.at(key);
}

inline SessionId NewSessionId() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  SessionId id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(random());
  return id;
}

inline LockSet LockSetOf(const std::vector<Command>& commands) {
  std::vector<const Command*> all;
  for (const Command& command : commands) all.push_back(&command);
  return tenure::LockSetOf(all);
}

inline std::unique_ptr<Store> OpenUrl(const std::string& url) {
  return OpenStore(ParseStoreUrl(url).value()).value();
}

class StoreContract : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    url_ = FreshUrl();
    store_ = Open();
    const auto migrated = store_->Migrate();
    ASSERT_TRUE(migrated) << migrated.error().message;
  }

  // The URL of an empty database.
  std::string FreshUrl() const {
    switch (GetParam()) {
      case Kind::kSqliteMemory: return "sqlite::memory:";
      case Kind::kSqliteFile: return "sqlite:" + (folder_.path() / "tenure.db").string();
      case Kind::kServer: return Server().FreshDatabase("tenure");
    }
    return "";
  }

  std::unique_ptr<Store> Open() { return OpenUrl(url_); }

  // Applies the commands in one transaction.
  std::vector<Result<Answer>> Run(Store& store, const std::vector<Command>& commands) {
    std::vector<Result<Answer>> answers;
    const auto committed =
        store.Transact(LockSetOf(commands), {}, [&](TransactionState& transaction) {
          answers.clear();
          for (const Command& command : commands) {
            const bool busy = std::ranges::any_of(ElectionsOf(command), [&](const auto& name) {
              return transaction.busy.contains(name);
            });
            if (busy) {
              answers.emplace_back(Fail(Reason::kOverloaded, "busy"));
            } else {
              answers.push_back(Apply(transaction, limits_, command));
            }
          }
        });
    EXPECT_TRUE(committed) << committed.error().message;
    const std::lock_guard lock(committed_mutex_);
    if (committed) committed_ = committed->offsets;
    return answers;
  }

  Result<Answer> Run(const Command& command) { return Run(*store_, {command}).at(0); }

  CampaignAnswer Stand(const std::string& election, const SessionId& session,
                       const std::string& candidate, Duration ttl = std::chrono::seconds(60),
                       int32_t priority = 0) {
    Campaign campaign{{election}, session, Campaign::Opening{candidate, ttl}, {}, "v",
                      priority,   {7}};
    return std::get<CampaignAnswer>(Run(campaign).value());
  }

  // Ends a session, and does not settle its elections.
  void End(const SessionId& session, Cause cause) {
    EXPECT_TRUE(store_->Transact({{}, {session}}, {}, [&](TransactionState& transaction) {
      EXPECT_TRUE(EndSession(transaction, session, cause));
    }));
  }

  ElectionView View(const std::string& election) {
    return store_->ReadElections({{election}}).value().at({election});
  }

  std::vector<std::string> History(const std::string& election) {
    std::vector<std::string> history;
    const auto events = store_->ReadEvents({election}, {1}, 1000).value();
    for (const Event& event : events) {
      history.push_back(std::to_string(event.revision.value) + " " +
                        std::string(EventTypeName(event.type)) + " " + event.leader.candidate +
                        " " + std::to_string(event.term.value) + " " +
                        std::string(CauseName(event.cause)));
    }
    return history;
  }

  Limits limits_;
  TempDir folder_;
  std::string url_;
  std::unique_ptr<Store> store_;
  std::mutex committed_mutex_;              // for tests of several threads
  std::vector<PartitionOffset> committed_;  // by the last transaction
};

}  // namespace tenure::testing
