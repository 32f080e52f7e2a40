#include "storage/mysql/answer_limit.h"

#include <mysql.h>
#include <sys/socket.h>

// From mariadb/ma_pvio.h, which includes private headers.
extern "C" int ma_pvio_register_callback(my_bool register_callback,
                                         void (*callback)(int mode, MYSQL* mysql,
                                                          const unsigned char* buffer,
                                                          size_t length));

namespace tenure::mysql {
namespace {

constexpr int kRead = 0;

// Of the first packet: its header, the kind of an error, and its number.
constexpr size_t kNumberEnds = 4 + 1 + 2;
constexpr unsigned char kProgress = 0xff;  // each byte of a progress report, which is an error

thread_local size_t allowed = 0;
thread_local size_t read = 0;       // since AllowAnswerOf
thread_local bool progress = true;  // as far as it was read

// On a progress report, libmariadb 3.3 reads the server's version, and crashes if it has none yet.
// So a report that comes in place of the greeting becomes an error with another number.
void ReplaceProgressBeforeGreeting(const MYSQL& connection, unsigned char* buffer, size_t length) {
  for (size_t i = 0; i < length && read < kNumberEnds; ++i, ++read) {
    if (read < kNumberEnds - 3) continue;
    progress = progress && buffer[i] == kProgress;
    const bool complete = read == kNumberEnds - 1;
    if (complete && progress && connection.server_version == nullptr) --buffer[i];
  }
}

void Count(int mode, MYSQL* connection, const unsigned char* buffer, size_t length) {
  const bool failed = length == static_cast<size_t>(-1);
  if (mode != kRead || failed) return;
  // The buffer is libmariadb's own, which it parses next.
  ReplaceProgressBeforeGreeting(*connection, const_cast<unsigned char*>(buffer), length);
  if (length > allowed) shutdown(mysql_get_socket(connection), SHUT_RDWR);
  allowed -= length > allowed ? allowed : length;
}

}  // namespace

void AllowAnswerOf(size_t bytes) {
  static const int registered = ma_pvio_register_callback(1, Count);
  static_cast<void>(registered);
  allowed = bytes;
  read = 0;
  progress = true;
}

}  // namespace tenure::mysql
