#include "tests/sim/observer.h"

#include <algorithm>
#include <utility>

namespace tenure::sim {

using namespace std::chrono_literals;

namespace {

// Has bytes every other time.
class MeagreBudget final : public calls::SendBudget {
 public:
  bool Take(size_t /*bytes*/) override { return ++asked_ % 2 == 0; }
  void Release(size_t /*bytes*/) override {}

 private:
  size_t asked_ = 0;
};

}  // namespace

bool Observer::KnowsAll() const {
  return std::ranges::all_of(world_.elections, [&](const ElectionName& name) {
    const auto heard = heard_.find(name);
    return auditor_.IsAll(name, heard == heard_.end() ? Revision{} : heard->second);
  });
}

void Observer::Open() {
  const auto to =
      static_cast<int>(world_.random.Below(static_cast<uint64_t>(world_.plan.replicas)));
  // So little that it often has to go on from the store.
  calls::ObserveOptions options;
  options.progress_interval = 1s;
  options.unsent_max = 4;
  options.unsent_to_resume = 1;
  options.events_per_read = 3;
  options.names_per_read = 2;
  options.reads_max = 2;
  options.unsent_bytes_free = 1'000;  // one message
  const uint64_t number = ++streams_;
  const calls::Selection selection(Selectors());
  const auto budget = std::make_shared<MeagreBudget>();
  stream_ = std::make_shared<ObserveStream>(
      network_, to,
      [selection, options, budget] { return calls::Observe(selection, options, budget); },
      calls::Observe(selection, options).Watches(),
      [this, number](const calls::ObserveMessage& message) {
        if (number == streams_) OnMessage(message);
      },
      [this, number] {
        if (number == streams_) ReopenLater();
      });
  stream_->Open();
  if (world_.healed) return;
  world_.After(world_.random.Between(100ms, 5s), [this, number] {
    if (number != streams_) return;
    stream_->Close();
    ReopenLater();
  });
}

void Observer::ReopenLater() {
  ++streams_;
  world_.After(world_.random.Between(1ms, 500ms), [this] { Open(); });
}

// Each election that it knows from where it was, and whatever else there is: by their prefix, or
// all by their names.
std::vector<calls::Selector> Observer::Selectors() {
  std::vector<calls::Selector> selectors;
  if (world_.random.OneIn(2)) {
    selectors.push_back({"", {}});
  } else {
    for (const ElectionName& name : world_.elections) {
      if (!heard_.contains(name)) selectors.push_back({name, {}});
    }
  }
  for (const auto& [name, heard] : heard_) {
    const Revision next = heard.Next();
    selectors.push_back({name, world_.mutation.resumes_late ? next.Next() : next});
  }
  return selectors;
}

void Observer::OnMessage(const calls::ObserveMessage& message) {
  std::visit([this](const auto& it) { Hear(it); }, message);
}

void Observer::Hear(const std::shared_ptr<const Event>& event) {
  Revision& heard = heard_[event->election];
  const bool first = heard == Revision{} && auditor_.IsFirst(event->election, event->revision);
  if (event->revision != heard.Next() && !first) {
    world_.Violate("{} received {} revision {} after {}", name_, event->election.bytes,
                   event->revision.value, heard.value);
  }
  heard = event->revision;
  const Event* stored = auditor_.EventOf(event->election, event->revision);
  Event told = *event;
  told.leader.call_id = {};  // not in the log
  if (stored == nullptr || *stored != told) {
    world_.Violate("{} received {} revision {}, which is not in the log", name_,
                   event->election.bytes, event->revision.value);
  }
}

void Observer::Hear(const calls::Snapshot& snapshot) {
  const auto [heard, first_time] = heard_.try_emplace(snapshot.name);
  const Election* election = auditor_.Find(snapshot.name);
  const bool gone = (election != nullptr && election->history_from > heard->second.Next()) ||
                    auditor_.WasPurgedSince(snapshot.name, heard->second);
  if (!first_time && !gone) {
    world_.Violate("{} had to begin again with {} after revision {}, which is still in the log",
                   name_, snapshot.name.bytes, heard->second.value);
  }
  heard->second = snapshot.election ? snapshot.election->revision : Revision{};
}

}  // namespace tenure::sim
