#include "tests/chaos/candidates.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <semaphore>
#include <stop_token>
#include <thread>

#include "client/tool/signals.h"
#include "tenure/elector.h"
#include "tenure/sql_fence.h"
#include "tests/chaos/history.h"
#include "tests/support/sql_application.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kLease = 3s;
constexpr auto kBetweenActs = 20ms;
constexpr int kActsPerWrite = 5;
constexpr auto kShortTermMin = 200ms;
constexpr auto kShortTermMax = 2000ms;

// Writes each line with one call, so that lines of different threads do not mix, and at once,
// because the process may be killed.
void Say(std::string text) {
  text += '\n';
  if (write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    std::abort();  // a history with holes proves nothing
  }
}

class Candidate {
 public:
  Candidate(const CandidatesOptions& options, std::string election, size_t number)
      : options_(options), election_(std::move(election)), random_(options.seed + number) {
    const Client client({.endpoints = options.endpoints,
                         .candidate = options.name + "-" + std::to_string(number),
                         .lease_ttl = kLease});
    elector_.emplace(client, ElectorOptions{.election = election_,
                                            .lead = [this](const auto& seat, std::stop_token stop) {
                                              begun_.acquire();
                                              begun_.release();
                                              Lead(seat.term(), stop);
                                            }});
    begun_.release();
  }

 private:
  void Lead(uint64_t term, const std::stop_token& stop) {
    const TermKey key{election_, term};
    const auto until = std::chrono::steady_clock::now() + TermLength();
    bool began = false;
    for (int acts = 0; !stop.stop_requested() && std::chrono::steady_clock::now() < until; ++acts) {
      const Nanoseconds before = NowNs();
      const Nanoseconds remaining = elector_->remaining().count();
      if (elector_->term() != term) break;
      if (!std::exchange(began, true)) Say(line::Began(key, NowNs()));
      Say(line::Believed(key, before, before + remaining));
      if (acts % kActsPerWrite == 0) Write(key);
      std::this_thread::sleep_for(kBetweenActs);
    }
    if (began) Say(line::Ended(key, NowNs()));
  }

  // How long it leads before it resigns.
  std::chrono::milliseconds TermLength() {
    if (election_.starts_with(kSteady)) return 24h;
    return std::chrono::milliseconds(std::uniform_int_distribution<int64_t>(
        kShortTermMin.count(), kShortTermMax.count())(random_));
  }

  void Write(const TermKey& key) {
    try {
      if (!database_) database_.emplace(options_.databases[server_]);
    } catch (const mysql::MySqlError&) {
      return UseAnotherServer();
    }
    const SqlFence fence{election_, key.second};
    const auto run = [&](const std::string& statement) {
      if (statement == "COMMIT") Say(line::Writes(key));  // first: the process may be killed
      return database_->Try(statement);
    };
    const SqlResult written = Guarded(
        run, fence,
        [&] {
          return run("INSERT INTO writes SELECT '" + election_ +
                     "', COALESCE(MAX(number), 0) + 1, " + std::to_string(key.second) +
                     " FROM writes WHERE election = '" + election_ + "'");
        },
        1);
    if (written) return Say(line::Wrote(key));
    UseAnotherServer();
  }

  void UseAnotherServer() {
    database_.reset();
    server_ = (server_ + 1) % options_.databases.size();
  }

  const CandidatesOptions& options_;
  const std::string election_;
  std::mt19937_64 random_;
  size_t server_ = 0;  // in use
  std::optional<SqlApplication> database_;
  std::binary_semaphore begun_{0};
  std::optional<Elector> elector_;
};

}  // namespace

int RunCandidates(const CandidatesOptions& options) {
  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  const Signals signals([&](int) {  // before gRPC starts its threads
    const std::lock_guard lock(mutex);
    stopping = true;
    stopped.notify_all();
  });
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (size_t i = 0; i < options.elections.size(); ++i) {
    candidates.push_back(std::make_unique<Candidate>(options, options.elections[i], i));
  }
  std::unique_lock lock(mutex);
  stopped.wait(lock, [&] { return stopping; });
  return EXIT_SUCCESS;
}

}  // namespace tenure::testing
