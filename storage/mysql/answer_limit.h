// Limits how much a database server may send.
//
// The client library reads rows, packets and messages for as long as the server sends them. The
// limit counts everything that it reads, also for the driver's own queries.
#pragma once

#include <cstddef>

namespace tenure::mysql {

// From now on, this thread reads at most `bytes` from a server; after that, the connection is shut
// down, and reading fails. Call it before each login: it also inspects the server's first packet.
void AllowAnswerOf(size_t bytes);

}  // namespace tenure::mysql
