#include "storage/mysql/answer_limit.h"

#include <mysql.h>
#include <sys/socket.h>

// Of mariadb/ma_pvio.h, which includes private headers.
extern "C" int ma_pvio_register_callback(my_bool register_callback,
                                         void (*callback)(int mode, MYSQL* mysql,
                                                          const unsigned char* buffer,
                                                          size_t length));

namespace tenure::mysql {
namespace {

constexpr int kRead = 0;

thread_local size_t allowed = 0;

void Count(int mode, MYSQL* connection, const unsigned char*, size_t length) {
  const bool failed = length == static_cast<size_t>(-1);
  if (mode != kRead || failed) return;
  if (length > allowed) shutdown(mysql_get_socket(connection), SHUT_RDWR);
  allowed -= length > allowed ? allowed : length;
}

}  // namespace

void AllowAnswerOf(size_t bytes) {
  static const int registered = ma_pvio_register_callback(1, Count);
  static_cast<void>(registered);
  allowed = bytes;
}

}  // namespace tenure::mysql
