#include "tests/polyglot/bad_days/beliefs.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenQuestions = 20ms;
constexpr int64_t kBetweenLinesNs = 50'000'000;

// Lines are shorter than PIPE_BUF, so that those of several processes do not mix.
void Write(const nlohmann::json& line) {
  const std::string text = line.dump() + "\n";
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
}

// The same answer, again and again.
struct Belief {
  uint64_t term = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t at_ns = 0;
  std::optional<int64_t> deadline_ns = {};

  void Say() const {
    nlohmann::json line = {{"event", "belief"},
                           {"term", term},
                           {"first_ns", first_ns},
                           {"last_ns", last_ns},
                           {"at_ns", at_ns}};
    if (deadline_ns) line["deadline_ns"] = *deadline_ns;
    Write(line);
  }
};

}  // namespace

int64_t NowNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Say(const std::string& event, uint64_t term, const std::string& cause) {
  nlohmann::json line = {{"event", event}, {"term", term}, {"at_ns", NowNs()}};
  if (!cause.empty()) line["cause"] = cause;
  Write(line);
}

Beliefs::Beliefs(std::function<Answer()> ask)
    : ask_(std::move(ask)), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Beliefs::Run(const std::stop_token& stop) const {
  std::optional<Belief> belief;
  int64_t said_ns = 0;
  while (!stop.stop_requested()) {
    const int64_t before_ns = NowNs();
    const auto [term, remaining] = ask_();
    const int64_t after_ns = NowNs();
    const bool same = belief && belief->term == term;
    if (!same && belief) belief->Say();
    if (!same) belief = Belief{.term = term, .first_ns = after_ns};
    belief->last_ns = before_ns;
    belief->at_ns = after_ns;
    belief->deadline_ns.reset();
    if (term != 0 && remaining) belief->deadline_ns = before_ns + remaining->count();
    // A candidate without a deadline is killed, and says nothing afterwards.
    const int64_t between_lines_ns = remaining ? kBetweenLinesNs : 0;
    if (!same || (term != 0 && after_ns - said_ns >= between_lines_ns)) {
      belief->Say();
      said_ns = after_ns;
    }
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

}  // namespace tenure::testing
