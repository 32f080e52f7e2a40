// How much a database may answer.
//
// The client library reads rows, packets and messages for as long as the server sends them. What is
// counted here is all that it reads, also for the driver's own questions.
#pragma once

#include <cstddef>

namespace tenure::mysql {

// From now on, this thread reads at most as much from a server: then the connection is shut down,
// and reading fails. To be called before each login: it also looks at what a server says first.
void AllowAnswerOf(size_t bytes);

}  // namespace tenure::mysql
