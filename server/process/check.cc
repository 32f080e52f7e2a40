#include "server/process/check.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "server/access/access.h"
#include "server/access/tls.h"
#include "server/engine/history/service_id.h"
#include "storage/open_store.h"
#include "storage/schema/foreign_tables.h"

namespace tenure::process {

int Check(const ServerConfig& config) {
  std::vector<std::string> faults;
  const auto tls = access::Tls::Open(config.tls);
  if (!tls) faults.push_back(tls.error());
  const auto now = std::chrono::system_clock::now();
  if (tls && (*tls)->expires_at().value_or(access::Tls::Time::max()) <= now)
    faults.push_back(config.tls.certificate + " has expired");
  const auto access = access::Access::Open(config.policy, [] { return engine::SteadyTime(); });
  if (!access) faults.push_back(access.error());

  bool any = false;
  for (const ServerReport& server : CheckServers(config.store, config.migrate)) {
    const bool used = server.refusal.empty();
    any |= used;
    std::cout << server.address << ": " << (server.name.empty() ? "unknown" : server.name) << ": "
              << (used ? "may be used" : "is not used: " + server.refusal) << '\n';
    for (const std::string& warning : server.warnings) {
      std::cout << server.address << ": warning: " << warning << '\n';
    }
    for (const std::string& fault : server.faults) {
      faults.push_back(server.address + ": " + fault);
    }
    if (!used) continue;
    const std::string foreign = WhyNotShared(server.foreign, config.share_database);
    if (!foreign.empty()) faults.push_back(server.address + " " + foreign);
    const auto wrong = engine::WrongService(server.session_key, config.service_id);
    if (wrong) faults.push_back(server.address + ": " + wrong->message);
  }
  if (!any) faults.emplace_back("no server of --store may be used");
  for (const std::string& fault : faults) std::cout << "will not serve: " << fault << '\n';
  if (!faults.empty()) return EXIT_FAILURE;
  std::cout << "will serve\n";
  return EXIT_SUCCESS;
}

}  // namespace tenure::process
