// Tests against running servers: one `tenured` on SQLite, or two replicas on one MariaDB.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/database_server.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

enum class StoreKind { kSqlite, kMariaDb };

inline std::string StoreKindName(const ::testing::TestParamInfo<StoreKind>& info) {
  return info.param == StoreKind::kSqlite ? "Sqlite" : "MariaDb";
}

class ServiceTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  // One server for all tests of a binary; each test has a database of its own in it.
  static DatabaseServer& Database() {
    static DatabaseServer server;
    return server;
  }

  void SetUp() override {
    const bool sqlite = GetParam() == StoreKind::kSqlite;
    url_ = sqlite ? "sqlite:" + (folder_.path() / "tenure.db").string()
                  : Database().FreshDatabase("tenure");
    const int replicas = sqlite ? 1 : 2;
    for (int i = 0; i < replicas; ++i) AddServer();
  }
  void AddServer() {
    servers_.push_back(std::make_unique<Tenured>(url_, Flags(), true, Host(), FirstProgram()));
  }

  // The program of the servers at first.
  [[nodiscard]] virtual std::string FirstProgram() const { return Program("tenured"); }
  // The flags of the servers.
  [[nodiscard]] virtual std::vector<std::string> Flags() const { return {}; }

  // Two replicas, where there are two.
  Tenured& A() { return *servers_.front(); }
  Tenured& B() { return *servers_.back(); }

  TempDir folder_;
  std::string url_;
  std::vector<std::unique_ptr<Tenured>> servers_;
};

}  // namespace tenure::testing
