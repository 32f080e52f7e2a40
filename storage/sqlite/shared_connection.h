// A connection that threads share: one at a time, each in its turn.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/error.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/turns.h"

namespace tenure::sqlite {

// Thread-safe.
class SharedConnection {
 public:
  explicit SharedConnection(const std::string& path) : connection_(path) {}
  // Throws, unless the path still leads to the file that `other` has opened.
  SharedConnection(const std::string& path, SharedConnection& other) : connection_(path) {
    const Turn own(turns_, Turns::For::kOthers);
    const Turn its(other.turns_, Turns::For::kOthers);
    if (!connection_.IsSameFileAs(other.connection_)) {
      throw SQLite::Exception("it was replaced while it was being opened");
    }
  }

  // Runs `work` when it is its turn, and turns SQLite's exceptions into values. Fails if the file
  // was removed or replaced.
  template <typename Work>
  auto Use(Turns::For whom, Work work) -> Result<std::invoke_result_t<Work, Connection&>> {
    const Turn turn(turns_, whom);
    const InUse in_use(busy_);
    try {
      connection_.CheckFile();
      if constexpr (std::is_void_v<std::invoke_result_t<Work, Connection&>>) {
        work(connection_);
        return {};
      } else {
        return work(connection_);
      }
    } catch (const SQLite::Exception& error) {
      return Fail(Reason::kStoreUnavailable, std::string("SQLite: ") + error.what());
    } catch (const std::out_of_range&) {
      return Fail(Reason::kStoreUnavailable, "SQLite: the tables hold data that no tenured wrote");
    }
  }

  [[nodiscard]] bool busy() const { return busy_; }

 private:
  // Marks the connection as in use while it lives.
  class InUse {
   public:
    explicit InUse(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
    ~InUse() { flag_ = false; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    std::atomic<bool>& flag_;
  };

  Turns turns_;
  std::atomic<bool> busy_ = false;
  Connection connection_ TENURE_GUARDED_BY(turns_);
};

}  // namespace tenure::sqlite
