// Preloaded into a program (LD_PRELOAD), it makes the program believe that the machine has slept
// for an hour, as soon as the file exists that TENURE_TEST_SLEPT names: CLOCK_BOOTTIME is ahead
// then, and every other clock has stood still.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  constexpr time_t kSleptSeconds = 3600;
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result != 0 || clock != CLOCK_BOOTTIME) return static_cast<int>(result);
  const char* const slept = std::getenv("TENURE_TEST_SLEPT");
  if (slept != nullptr && access(slept, F_OK) == 0) time->tv_sec += kSleptSeconds;
  return 0;
}
