#include "storage/mysql/mysql_store.h"

#include <chrono>
#include <optional>
#include <utility>

#include "base/text.h"
#include "core/law/remembered.h"
#include "storage/mysql/load.h"
#include "storage/mysql/migrator.h"
#include "storage/mysql/open.h"
#include "storage/mysql/preflight.h"
#include "storage/mysql/save.h"
#include "storage/mysql/sql.h"
#include "storage/schema/foreign_tables.h"
#include "storage/schema/migrations.h"

namespace tenure::mysql {

Result<Committed> MySqlStore::Transact(const LockSet& locks, const CommitRules& rules,
                                       const Decide& decide) {
  const TransactionState* remembered = rules.remembered;  // until it was tried
  auto memory = Committed::Memory::kUnused;
  return runner_.Run([&](Pool::Loan& loan) {
    if (const TransactionState* from = std::exchange(remembered, nullptr)) {
      TransactionState decided = *from;
      decide(decided);
      if (MayCommitFromMemory(*from, decided)) {
        if (auto offsets = SaveIfUnchanged(loan, rules, *from, decided)) {
          return Committed{std::move(decided), *std::move(offsets), Committed::Memory::kHeld};
        }
        memory = Committed::Memory::kRefused;
      }
    }
    const Loaded loaded = Load(loan, locks);
    TransactionState decided = loaded.transaction;
    decide(decided);
    auto offsets = Save(loan, rules, loaded, decided);
    return Committed{std::move(decided), std::move(offsets), memory};
  });
}

void MySqlStore::StayOn(uint64_t server) { runner_.StayOn(server); }

void MySqlStore::LeaveServer() { runner_.LeaveServer(); }

StoreActivity MySqlStore::Activity() const { return runner_.Activity(); }

Result<void> MySqlStore::Ping() {
  return runner_.Run([&](Pool::Loan& loan) {
    loan.connection().Run({query::kPing});
    loan.connection().CheckWritable();
  });
}

Result<SchemaState> MySqlStore::CheckSchema() {
  return runner_.RunAnywhere([](Pool::Loan& loan) {
    return StateOf(SchemaVersion(loan.connection()), MySqlMigrations());
  });
}

namespace {

ForeignTables FindForeign(Connection& connection) {
  const Rows rows = connection.Run({query::kTables})[0];
  // Another replica may have begun Tenure's schema since the tables were read.
  if (HasSchema(connection)) return {};
  return JudgeTables(ConvertAll(rows, [](const Row& row) { return Printable(row.Bytes(0)); }),
                     MySqlMigrations());
}

}  // namespace

Result<ForeignTables> MySqlStore::FindForeignTables() {
  return runner_.RunAnywhere([](Pool::Loan& loan) { return FindForeign(loan.connection()); });
}

Result<void> MySqlStore::Migrate() {
  return runner_.RunAnywhere(
      [](Pool::Loan& loan) { MigrateSchema(loan.connection(), loan.slot().writer); });
}

namespace {

// Events are dated by the server's clock. People compare it with other clocks.
constexpr auto kClockOffsetMax = std::chrono::seconds(5);
std::optional<std::string> WarningOfClock(Connection& connection) {
  const auto sent = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = connection.Run({query::kClock})[0].at(0).Signed(0);
  const auto offset =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::microseconds(micros) - sent);
  if (std::chrono::abs(offset) <= kClockOffsetMax) return std::nullopt;
  return "its clock is " + std::to_string(std::abs(offset.count())) + " s " +
         (offset.count() > 0 ? "ahead of" : "behind") + " this machine's";
}

}  // namespace

std::vector<ServerReport> CheckMySqlServers(const Config& config, bool migrates) {
  std::vector<ServerReport> reports;
  for (const Address& address : config.addresses) {
    ServerReport report{address.host + ":" + std::to_string(address.port), "", "", {}};
    try {
      Connection connection(config, address);
      const Server& server = connection.server();
      report.name = server.name;
      report.refusal = server.refusal;
      report.warnings = server.warnings;
      if (report.refusal.empty()) {
        report.faults = FaultsOf(connection, migrates);
        report.foreign = FindForeign(connection);
        report.session_key = FindSessionKey(connection).value_or("");
        if (auto warning = WarningOfClock(connection)) report.warnings.push_back(*warning);
      }
    } catch (const MySqlError& error) {
      report.refusal = error.what();
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::unique_ptr<Store> OpenMySqlStore(Config config) {
  return std::make_unique<MySqlStore>(std::move(config));
}

}  // namespace tenure::mysql
