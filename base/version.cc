#include "base/version.h"

namespace tenure {

const char kVersion[] = TENURE_VERSION;  // of core/CMakeLists.txt, for this file only

}  // namespace tenure
