#include "tests/polyglot/stubs/reign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <tuple>

namespace tenure::testing {
namespace {

// How one process reads its own lines: in a reign, or in none.
class ReignReader {
 public:
  explicit ReignReader(std::string candidate) : candidate_(std::move(candidate)) {}

  void Read(const Line& line) {
    if (line.event == "elected") {
      EXPECT_FALSE(reign_) << candidate_ << " is elected while it leads, in term " << line.term;
      End();
      reign_ = Reign{line.term, candidate_, line.time_ms, line.time_ms};
    } else if (line.event == "work") {
      Work(line);
    } else if (line.event == "step_down" || line.event == "lost" || line.event == "resigned") {
      Leave(line);
    }
  }

  // Nothing follows: it lives, or was killed.
  std::vector<Reign> Finish() {
    TrustLease();
    End();
    return reigns_;
  }

 private:
  void Work(const Line& line) {
    if (!reign_ || reign_->term != line.term) {
      ADD_FAILURE() << candidate_ << " works in term " << line.term << " and does not lead in it";
      return;
    }
    reign_->until_ms = line.time_ms;
    lease_until_ms_ = line.time_ms + line.left_ms;
  }

  void Leave(const Line& line) {
    if (!reign_ || reign_->term != line.term) return;  // it resigned after stepping down
    if (line.event == "step_down") {
      reign_->until_ms = line.time_ms;
    } else if (line.event == "lost") {
      // A process that was stopped says so late. It believed no longer than the lease that it knew
      // of.
      TrustLease();
    }
    // A resigning leader may hear the answer when the next one leads: its reign ends with its last
    // work.
    End();
  }

  void TrustLease() {
    if (reign_) reign_->until_ms = std::max(reign_->until_ms, lease_until_ms_);
  }

  void End() {
    if (reign_) reigns_.push_back(*reign_);
    reign_.reset();
    lease_until_ms_ = 0;
  }

  const std::string candidate_;
  std::optional<Reign> reign_;
  int64_t lease_until_ms_ = 0;  // as its last work knew it
  std::vector<Reign> reigns_;
};

}  // namespace

std::vector<Reign> ReignsOf(const std::string& candidate, const std::vector<Line>& lines) {
  ReignReader reader(candidate);
  for (const Line& line : lines) reader.Read(line);
  return reader.Finish();
}

void ExpectOneLeaderAtATime(std::vector<Reign> reigns) {
  std::ranges::sort(reigns, {}, &Reign::term);
  for (size_t i = 1; i < reigns.size(); ++i) {
    const Reign& earlier = reigns[i - 1];
    const Reign& later = reigns[i];
    EXPECT_LT(earlier.term, later.term) << earlier.candidate << " and " << later.candidate;
    EXPECT_LE(earlier.until_ms, later.from_ms)
        << earlier.candidate << " in term " << earlier.term << ", and " << later.candidate
        << " in term " << later.term;
  }
}

void ExpectOneHistory(const std::map<std::string, std::vector<Line>>& lines_by_observer) {
  using Change = std::tuple<std::string, uint64_t, std::string, std::string>;
  std::map<uint64_t, Change> history;
  for (const auto& [observer, lines] : lines_by_observer) {
    std::optional<uint64_t> last;
    for (const Line& line : lines) {
      if (line.event != "observed") continue;
      EXPECT_EQ(line.type == "SNAPSHOT", !last) << observer << ": " << line.type;
      if (last) {
        EXPECT_EQ(line.revision, *last + 1) << observer;
        const Change change{line.type, line.term, line.candidate, line.cause};
        EXPECT_EQ(history.emplace(line.revision, change).first->second, change)
            << observer << " at revision " << line.revision;
      }
      last = line.revision;
    }
  }
}

}  // namespace tenure::testing
