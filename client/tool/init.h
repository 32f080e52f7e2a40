// Being the first process of a container.
#pragma once

#include <functional>

namespace tenure {

// If this is process 1, `work` runs in a child. This process passes signals on to it, reaps every
// process that has lost its parent, and returns the child's exit code when it ends. If it is not
// process 1: `work` runs here. REQUIRES: there is one thread.
int RunAsInitIfFirst(const std::function<int()>& work);

}  // namespace tenure
