// The store on MySQL 8+ and MariaDB 10.6+, through MySQL Connector/C++.
//
// One transaction is two to four messages to the server, whatever the size of the batch: lock the
// elections and the callers' sessions, and where a term may end, read the queues and lock the
// successors; read other queues, and lock leaders, if there are any; save and commit. The clock
// comes with the locked sessions. At most `Config::connections_max` run at once; a caller that
// finds all of them busy waits, a bounded time.
//
// A connection that breaks during COMMIT leaves open whether the commit happened. Every transaction
// therefore also increments a row of its connection (table `writers`), and that row, read under its
// lock on a new connection, shows the outcome.
#pragma once

#include <memory>
#include <vector>

#include "storage/mysql/config.h"
#include "storage/open_store.h"
#include "storage/store.h"

namespace tenure::mysql {

// Connects when it is first used: the first call detects a database that is unavailable.
[[nodiscard]] std::unique_ptr<Store> OpenMySqlStore(Config config);

[[nodiscard]] std::vector<ServerReport> CheckMySqlServers(const Config& config, bool migrates);

}  // namespace tenure::mysql
