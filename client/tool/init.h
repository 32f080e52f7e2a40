// Runs as the first process of a container.
#pragma once

#include <functional>

namespace tenure {

// As process 1, runs `work` in a child, forwards signals to it, reaps orphaned processes, and
// returns the child's exit code when it ends. Otherwise runs `work` here. REQUIRES: this process
// has one thread.
int RunAsInitIfFirst(const std::function<int()>& work);

}  // namespace tenure
