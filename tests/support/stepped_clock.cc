// Preloaded into a program (LD_PRELOAD), it moves the program's time of day, and no other clock, by
// as many nanoseconds as the file says that TENURE_TEST_CLOCK names: a number in its bytes, which a
// test may change at any time. So a test can set the system's clock, for one program only. Waits on
// a futex until a time of day, which is how Abseil and so gRPC waits, are of that clock, too: also
// those that have begun before it is set. Programs that do not use libc, such as Go's, are not
// reached.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr int64_t kSliceNs = 20'000'000;  // of a wait, after which the clock is looked at again

using Syscall = long (*)(long, ...);

Syscall Real() {
  static const auto real = reinterpret_cast<Syscall>(dlsym(RTLD_NEXT, "syscall"));
  return real;
}

const int64_t* Map() {
  const char* const path = std::getenv("TENURE_TEST_CLOCK");
  const int file = path != nullptr ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return nullptr;
  void* const mapped = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<const int64_t*>(mapped);
}

int64_t AheadNs() {
  static const int64_t* const ahead = Map();
  return ahead == nullptr ? 0 : __atomic_load_n(ahead, __ATOMIC_RELAXED);
}

int64_t ToNs(const timespec& time) { return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec; }

timespec FromNs(int64_t time) {
  return {.tv_sec = time / kNanosecondsPerSecond, .tv_nsec = time % kNanosecondsPerSecond};
}

int64_t RealNowNs() {
  timespec now{};
  Real()(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return ToNs(now);
}

// As the kernel's, whose clock is the one that was set.
long WaitOnFutex(const long* a, const timespec& until) {
  while (true) {
    const int64_t end = ToNs(until) - AheadNs();
    const int64_t now = RealNowNs();
    const timespec slice = FromNs(std::min(end, now + kSliceNs));
    const long result = Real()(SYS_futex, a[0], a[1], a[2], &slice, a[4], a[5]);
    if (result == 0 || errno != ETIMEDOUT || RealNowNs() >= ToNs(until) - AheadNs()) return result;
  }
}

}  // namespace

extern "C" long syscall(long number, ...) noexcept {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  constexpr long kOfDay = FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME;
  const auto* const until = reinterpret_cast<const timespec*>(a[3]);
  if (number == SYS_futex && (a[1] & kOfDay) == kOfDay && until != nullptr) {
    return WaitOnFutex(a, *until);
  }
  return Real()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = Real()(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    *now = FromNs(ToNs(*now) + AheadNs());
  }
  return static_cast<int>(result);
}

extern "C" int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1'000;
  return 0;
}

extern "C" time_t time(time_t* now) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) *now = precise.tv_sec;
  return precise.tv_sec;
}
