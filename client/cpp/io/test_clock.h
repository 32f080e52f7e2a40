// The clock of clients under test: it moves only when it is set. See tenure/testing.h.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/cpp/io/mailbox.h"
#include "client/cpp/io/serial_executor.h"
#include "core/lease.h"

namespace tenure {

// Thread-safe.
class TestClock {
 public:
  // The state of a client at the current time of the clock.
  struct Rest {
    Lease::Time wake = Lease::Time::max();  // when it next has something to do
    bool awaits_answer = false;
    std::string session_id = {};  // empty: it has none
    bool streams = false;         // it renews this session on a stream
    size_t heard = 0;             // messages of that stream
  };
  // A client driven by this clock. If the client is gone, its promise is broken
  // (`std::future_errc::broken_promise`).
  struct Member {
    // Answers when the client has done all that is due.
    std::function<void(std::shared_ptr<std::promise<Rest>>)> rest;
    // Answers when the callbacks that are due have returned.
    std::function<void(std::shared_ptr<std::promise<bool>>)> callbacks;
  };

  [[nodiscard]] Lease::Time Now() const noexcept { return now_; }
  void Set(Lease::Time now) noexcept { now_ = now; }
  // Seeds a client's random numbers: the same in each run, but different for each client.
  [[nodiscard]] uint64_t NextSeed() noexcept { return ++last_seed_; }

  // Adds a client that carries out each input, with all that follows from it, before it takes the
  // next. `rest` is for its thread.
  template <typename Input>
  void Join(const std::shared_ptr<Mailbox<Input>>& inputs, SerialExecutor& callbacks,
            std::function<Rest()> rest) {
    Member member{.rest =
                      [inputs, rest = std::move(rest)](auto answer) {
                        inputs->Put([](auto&&...) {});  // triggers all that is due
                        inputs->Put([rest, answer](auto&&...) { answer->set_value(rest()); });
                      },
                  .callbacks =
                      [inputs, &callbacks](auto answer) {
                        inputs->Put([&callbacks, answer](auto&&...) {
                          callbacks.Run([answer] { answer->set_value(true); });
                        });
                      }};
    const MutexLock lock(mutex_);
    members_.push_back(std::move(member));
  }
  [[nodiscard]] std::vector<Member> members() const {
    const MutexLock lock(mutex_);
    return members_;
  }

 private:
  std::atomic<Lease::Time> now_ = Lease::Time(std::chrono::hours(1));
  std::atomic<uint64_t> last_seed_ = 0;
  mutable Mutex mutex_;
  std::vector<Member> members_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
