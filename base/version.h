// The version of Tenure, such as "0.1.0": that of `project` in CMakeLists.txt.
#pragma once

namespace tenure {

extern const char kVersion[];

}  // namespace tenure
