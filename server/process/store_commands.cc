#include "server/process/store_commands.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <variant>

#include "command_line/standard_output.h"
#include "server/engine/history/bump_terms.h"
#include "server/engine/history/lineage.h"
#include "server/engine/history/service_id.h"
#include "server/log/log.h"
#include "storage/schema/foreign_tables.h"

namespace tenure::process {

int Complain(const std::string& what) {
  WriteError("tenured: " + what);
  return EXIT_FAILURE;
}

std::optional<std::string> FaultOfFile(const ServerConfig& config) {
  const auto* file = std::get_if<SqliteLocation>(&config.store);
  const bool must_exist = config.bump_terms || !config.service_id.empty();
  if (file == nullptr || !must_exist) return std::nullopt;
  std::error_code error;
  const bool exists = std::filesystem::exists(file->path, error);
  if (error) return config.store_url + ": cannot look for the file: " + error.message();
  if (!exists) return "the file of " + config.store_url + " is not there";
  return std::nullopt;
}

tl::expected<void, SchemaFault> PrepareSchema(Store& store, const ServerConfig& config,
                                              ServiceManager& service_manager) {
  const auto away = [](const Error& error) {
    return tl::unexpected(SchemaFault{false, error.message});
  };
  // Checked first: the database may belong to another service.
  if (!config.service_id.empty()) {
    const auto key = store.FindSessionKey();
    if (!key) return away(key.error());
    const auto wrong = engine::WrongService(key->value_or(""), config.service_id);
    if (wrong) {
      store.LeaveServer();
      return away(*wrong);
    }
  }
  auto state = store.CheckSchema();
  if (!state) return away(state.error());
  if (*state == SchemaState::kTooOld) {
    const auto foreign = store.FindForeignTables();
    if (!foreign) return away(foreign.error());
    const std::string refusal = WhyNotShared(*foreign, config.share_database);
    if (!refusal.empty()) {
      return tl::unexpected(SchemaFault{true, config.store_url + " " + refusal});
    }
  }
  if (*state == SchemaState::kTooOld || (config.migrate_only && *state == SchemaState::kCurrent)) {
    if (!config.migrate && !config.migrate_only) {
      return tl::unexpected(SchemaFault{true, "the schema of " + config.store_url +
                                                  " is older than this program; run: tenured " +
                                                  "migrate --store " + config.store_url});
    }
    service_manager.Migrating();
    const auto migrated = store.Migrate();
    if (!migrated) return away(migrated.error());
    if (*state == SchemaState::kTooOld) LogInfo("schema updated");
  } else if (*state == SchemaState::kTooNew) {
    return tl::unexpected(SchemaFault{true, "the schema of " + config.store_url +
                                                " is newer than this program; run the version of "
                                                "tenured that created it, or a newer one"});
  }
  return {};
}

int Migrate(Store& store, const ServerConfig& config, ServiceManager& service_manager) {
  const auto prepared = PrepareSchema(store, config, service_manager);
  if (!prepared) return Complain(prepared.error().message);
  std::cout << "tenured: the schema of " << config.store_url << " is up to date" << std::endl;
  return EXIT_SUCCESS;
}

int BumpAllTerms(Store& store, ServerConfig config, ServiceManager& service_manager) {
  config.migrate = false;
  const auto prepared = PrepareSchema(store, config, service_manager);
  if (!prepared) return Complain(prepared.error().message);
  const auto raised = engine::ReadHistory(store);
  if (!raised) return Complain(raised.error().message);
  if (const auto wrong = engine::WrongService(raised->session_key, config.service_id)) {
    return Complain(wrong->message);
  }
  const auto bumped = engine::BumpTerms(store, config.author);
  if (!bumped) return Complain(bumped.error().message);
  const auto begun = engine::BeginRepairedEpoch(store, *raised);
  if (!begun) return Complain(begun.error().message);
  std::cout << "tenured: all new terms in " << config.store_url << " will be higher than "
            << bumped->to << "; raised " << bumped->elections << " elections, ended "
            << bumped->sessions << " sessions" << std::endl;
  return EXIT_SUCCESS;
}

}  // namespace tenure::process
