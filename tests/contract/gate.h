// Holds up transactions of a test's server, so that a test can do something to them there.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "storage/mysql/connection.h"
#include "storage/open_store.h"
#include "tests/contract/server.h"
#include "tests/support/process.h"

namespace tenure::testing {

// A lock of the server (GET_LOCK) that belongs to no transaction of the store: a session waits
// until it is free, and can be seen waiting.
class Gate {
 public:
  // Each transaction that does `where` stops there; by default, each that writes an event.
  explicit Gate(const std::string& where = "AFTER INSERT ON tenure.events")
      : connection_(std::get<mysql::Config>(ParseStoreUrl(Url()).value())) {
    connection_.Run({"SET SESSION wait_timeout = 600", "SELECT GET_LOCK('gate', 0)"});
    connection_.Run(
        {"CREATE TRIGGER tenure.slow " + where + " FOR EACH ROW DO GET_LOCK('gate', 60)"});
  }

  void Open() { connection_.Run({"SELECT RELEASE_LOCK('gate')"}); }
  void WaitUntilOneWaits() {
    EXPECT_TRUE(Eventually([&] { return !Waiting().empty(); }));
  }
  // Kills the waiting session, which rolls its transaction back.
  void EndTheOneThatWaits() {
    TellTheOneThatWaits("KILL");
    EXPECT_TRUE(Eventually([&] { return Waiting().empty(); }));
  }
  // Interrupts only its statement, which may or may not have taken effect.
  void InterruptTheOneThatWaits() { TellTheOneThatWaits("KILL QUERY"); }
  // Waits until a look-up waits for a row that an open transaction holds.
  void WaitUntilItIsLookedUp() {
    EXPECT_TRUE(Eventually([&] {
      return Ask("SELECT COUNT(*) FROM information_schema.processlist"
                 " WHERE info LIKE 'SELECT transaction FROM writers%'"
                 " OR info LIKE 'UPDATE elections SET next_ticket%'") != "0";
    }));
  }

 private:
  static std::string Url() { return "mysql://root@" + Server().address() + "/tenure"; }
  std::string Ask(const std::string& sql) { return connection_.Run({sql})[0][0][0].value_or(""); }
  void TellTheOneThatWaits(const std::string& what) {
    const std::string connection = Waiting();
    ASSERT_FALSE(connection.empty()) << "nobody waits";
    connection_.Run({what + " " + connection});
  }
  std::string Waiting() {
    return Ask("SELECT MIN(id) FROM information_schema.processlist WHERE state = 'User lock'");
  }

  mysql::Connection connection_;
};

}  // namespace tenure::testing
