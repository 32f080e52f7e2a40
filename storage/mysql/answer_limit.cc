#include "storage/mysql/answer_limit.h"

#include <mysql.h>
#include <sys/socket.h>

#include <cstring>

// From mariadb/ma_pvio.h, which includes private headers.
extern "C" int ma_pvio_register_callback(my_bool register_callback,
                                         void (*callback)(int mode, MYSQL* mysql,
                                                          const unsigned char* buffer,
                                                          size_t length));

namespace tenure::mysql {
namespace {

constexpr int kRead = 0;

constexpr size_t kHeaderBytes = 4;
constexpr unsigned char kErrorPacket = 0xff;

thread_local size_t allowed = 0;
thread_local size_t read = 0;  // since AllowAnswerOf

// On an error, libmariadb 3.3 reads the server's version, and crashes if it has none. So it gets an
// empty one if the first packet, which should contain it, is an error. libmariadb frees the version
// with the connection.
void SetVersionIfAnErrorComesFirst(MYSQL* connection, const unsigned char* buffer, size_t length) {
  const bool has_kind = read <= kHeaderBytes && read + length > kHeaderBytes;
  if (has_kind && buffer[kHeaderBytes - read] == kErrorPacket &&
      connection->server_version == nullptr) {
    connection->server_version = strdup("");
  }
  read += length;
}

void Count(int mode, MYSQL* connection, const unsigned char* buffer, size_t length) {
  const bool failed = length == static_cast<size_t>(-1);
  if (mode != kRead || failed) return;
  SetVersionIfAnErrorComesFirst(connection, buffer, length);
  if (length > allowed) shutdown(mysql_get_socket(connection), SHUT_RDWR);
  allowed -= length > allowed ? allowed : length;
}

}  // namespace

void AllowAnswerOf(size_t bytes) {
  static const int registered = ma_pvio_register_callback(1, Count);
  static_cast<void>(registered);
  allowed = bytes;
  read = 0;
}

}  // namespace tenure::mysql
