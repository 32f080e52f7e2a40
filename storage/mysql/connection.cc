#include "storage/mysql/connection.h"

#include <mysql.h>

#include <algorithm>
#include <new>
#include <random>

#include "storage/mysql/sql.h"

namespace tenure::mysql {
namespace {

constexpr unsigned kConnectTimeoutSeconds = 2;
constexpr unsigned kReadTimeoutSeconds = 8;
constexpr auto kBorrowTimeout = std::chrono::seconds(5);
constexpr auto kIdleMax = query::kSilenceMax - std::chrono::seconds(1);

// The error numbers are those of MySQL's and MariaDB's manuals.
MySqlError::Kind KindOf(int code) {
  switch (code) {
    case 1062:  // duplicate key: another transaction made the row first
    case 1020:  // record has changed since last read (MariaDB 11, Galera)
    case 1205:  // lock wait timeout
    case 1213:  // deadlock, or certification failure of Galera
    case 3101:  // certification failure of Group Replication
    case 3572:  // NOWAIT
      return MySqlError::Kind::kConflict;
    case 1040:  // too many connections
    case 1047:  // Galera: node is not ready
    case 1053:  // shutdown in progress
    case 1079:  // normal shutdown
    case 1152:  // aborted connection
    case 1158:
    case 1159:
    case 1160:
    case 1161:  // packets that were not read or written
    case 1290:
    case 1792:
    case 1836:  // read only
    case 1927:  // connection was killed
    case 3100:
    case 3168:  // Group Replication: before_commit hook, not primary
    case 4031:  // disconnected for inactivity
      return MySqlError::Kind::kAway;
    default:
      return code >= 2000 && code < 3000 ? MySqlError::Kind::kAway : MySqlError::Kind::kOther;
  }
}

MySqlError LastError(MYSQL* handle) {
  const auto code = static_cast<int>(mysql_errno(handle));
  return {KindOf(code), code, "MySQL error " + std::to_string(code) + ": " + mysql_error(handle)};
}

void Connect(MYSQL* handle, const Config& config, const Address& address) {
  const unsigned protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(handle, MYSQL_OPT_PROTOCOL, &protocol);
  mysql_options(handle, MYSQL_OPT_CONNECT_TIMEOUT, &kConnectTimeoutSeconds);
  mysql_options(handle, MYSQL_OPT_READ_TIMEOUT, &kReadTimeoutSeconds);
  mysql_options(handle, MYSQL_OPT_WRITE_TIMEOUT, &kReadTimeoutSeconds);
  mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  std::string host = address.host;
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);  // IPv6
  const MYSQL* connected =
      mysql_real_connect(handle, host.c_str(), config.user.c_str(), config.password.c_str(),
                         config.database.c_str(), address.port, nullptr, CLIENT_MULTI_STATEMENTS);
  if (connected == nullptr) throw LastError(handle);
}

// What the server answered the statement that is next.
Rows Fetch(MYSQL* handle) {
  Rows rows;
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result(mysql_store_result(handle),
                                                                        &mysql_free_result);
  if (result == nullptr) {
    if (mysql_field_count(handle) > 0) throw LastError(handle);
    rows.affected = mysql_affected_rows(handle);
    rows.insert_id = mysql_insert_id(handle);
    return rows;
  }
  const unsigned columns = mysql_num_fields(result.get());
  rows.reserve(mysql_num_rows(result.get()));
  while (const MYSQL_ROW cells = mysql_fetch_row(result.get())) {
    const unsigned long* lengths = mysql_fetch_lengths(result.get());
    Row& row = rows.emplace_back(columns);
    for (unsigned i = 0; i < columns; ++i) {
      if (cells[i] != nullptr) row[i].emplace(cells[i], lengths[i]);
    }
  }
  return rows;
}

std::string RandomBytes(size_t count) {
  std::random_device random;
  std::string bytes(count, '\0');
  std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
  return bytes;
}

}  // namespace

void Connection::Close::operator()(st_mysql* handle) const { mysql_close(handle); }

Connection::Connection(const Config& config) {
  static const int ready = mysql_library_init(0, nullptr, nullptr);  // once, by one thread
  if (ready != 0) throw MySqlError(MySqlError::Kind::kOther, 0, "the client library fails");
  std::optional<MySqlError> failure;
  for (const Address& address : config.addresses) {
    try {
      handle_.reset(mysql_init(nullptr));
      if (handle_ == nullptr) throw std::bad_alloc();
      Connect(handle_.get(), config, address);
      Run(query::SetUpSession());
      if (!ReadOnly()) return;
      throw MySqlError(MySqlError::Kind::kAway, 1290, address.host + " is read-only");
    } catch (const MySqlError& error) {
      failure = error;
    }
  }
  throw failure.value_or(MySqlError(MySqlError::Kind::kOther, 0, "no address is given"));
}

Connection::~Connection() = default;

bool Connection::ReadOnly() {
  const Cell value = Run({query::kReadOnly})[0].at(0).at(0);
  return value != "0" && value != "OFF";
}

std::vector<Rows> Connection::Run(const std::vector<std::string>& statements) {
  std::string message;
  for (const std::string& statement : statements) message.append(statement).append(";");
  if (!message.empty()) message.pop_back();
  MYSQL* const handle = handle_.get();
  if (mysql_real_query(handle, message.data(), message.size()) != 0) throw LastError(handle);
  std::vector<Rows> results;
  while (true) {
    results.push_back(Fetch(handle));
    const int more = mysql_next_result(handle);
    if (more > 0) throw LastError(handle);
    if (more < 0) return results;
  }
}

Pool::Pool(Config config) : config_(std::move(config)) {
  for (size_t i = 0; i < config_.connections_max; ++i) {
    slots_.push_back(std::make_unique<Slot>(Slot{RandomBytes(16)}));
    free_.push_back(slots_.back().get());
  }
}

Pool::Loan Pool::Borrow() {
  std::unique_ptr<Connection> silent;  // closed without the lock
  std::unique_lock lock(mutex_);
  if (!returned_.wait_for(lock, kBorrowTimeout, [&] { return !free_.empty(); })) {
    throw MySqlError(MySqlError::Kind::kAway, 0,
                     "all " + std::to_string(slots_.size()) + " database connections are in use");
  }
  Slot* slot = free_.back();
  free_.pop_back();
  if (std::chrono::steady_clock::now() - slot->returned_at > kIdleMax) {
    silent = std::move(slot->connection);
  }
  return {*this, *slot};
}

Connection& Pool::Loan::connection() {
  if (slot_.connection == nullptr) {
    slot_.connection = std::make_unique<Connection>(pool_.config_);
  }
  return *slot_.connection;
}

StoreActivity Pool::Activity() const {
  const std::lock_guard lock(mutex_);
  const auto idle =
      std::ranges::count_if(free_, [](const Slot* slot) { return slot->connection != nullptr; });
  return {.connections_busy = slots_.size() - free_.size(),
          .connections_idle = static_cast<size_t>(idle),
          .connections_max = slots_.size()};
}

void Pool::Return(Slot& slot) {
  {
    const std::lock_guard lock(mutex_);
    slot.returned_at = std::chrono::steady_clock::now();
    free_.push_back(&slot);
  }
  returned_.notify_one();
}

}  // namespace tenure::mysql
