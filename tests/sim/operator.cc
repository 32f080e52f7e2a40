#include "tests/sim/operator.h"

#include <utility>

namespace tenure::sim {

using namespace std::chrono_literals;

namespace {

constexpr int kTriesMax = 6;
constexpr auto kInspectionInterval = 500ms;

}  // namespace

Operator::Operator(World& world, Network& network, const Auditor& auditor, int number)
    : world_(world),
      network_(network),
      auditor_(auditor),
      name_("operator-" + std::to_string(number)) {}

void Operator::Rest() {
  if (world_.ending) return PutInOrder();
  world_.After(world_.random.Between(1ms, 2 * world_.plan.orders_every), [this] {
    if (world_.quiet || world_.ending) return Rest();
    if (world_.plan.purges && world_.random.OneIn(2)) PurgeAll();
    const ElectionName name = world_.elections[world_.random.Below(world_.elections.size())];
    Look(name, [this, name](const std::optional<Election>& seen) { Decide(name, seen); });
    Rest();
  });
}

void Operator::Look(const ElectionName& name,
                    std::function<void(const std::optional<Election>& seen)> then) {
  using Seen = std::optional<Election>;
  const auto serve = [name](Replica& replica, Respond<Seen> respond) {
    replica.engine().ReadElection(name, false, std::move(respond));
    return nullptr;
  };
  (void)network_.Send<Seen>(AnyReplica(), serve,
                            [then = std::move(then)](const Result<Seen>& seen) {
                              if (seen) then(*seen);
                            });
}

void Operator::Decide(const ElectionName& name, const std::optional<Election>& seen) {
  if (world_.quiet || world_.ending) return;
  if (!seen || seen->deleted) {
    if (!world_.random.OneIn(3)) return;
    Configure configure = ChooseConfigure(name);
    configure.create = true;
    return Give(std::move(configure), "makes");
  }
  if (seen->paused && world_.random.OneIn(2)) return Give(Pause{name, false, {}}, "resumes");
  switch (world_.random.Below(12)) {
    case 0:
    case 1:
    case 2:
    case 3: return Give(ChooseAppoint(*seen), "appoints somebody in");
    case 4:
    case 5:
    case 6: return Give(ChooseDepose(*seen), "deposes the leader of");
    case 7: return Give(Pause{name, true, {}}, "pauses");
    case 8:
    case 9: return Give(ChooseConfigure(name), "configures");
    case 10: return Give(Delete{name, seen->term, {}}, "deletes");
    default:
      if (seen->leader) EndSession(seen->leader->session);
  }
}

Appoint Operator::ChooseAppoint(const Election& seen) {
  Appoint appoint{seen.name, seen.term, "c", false, {}, {}};
  const auto clients = static_cast<uint64_t>(world_.plan.clients());
  appoint.candidate += std::to_string(world_.random.Below(clients));
  appoint.force = world_.random.OneIn(3);
  if (world_.random.OneIn(3)) appoint.reserve_for = world_.random.Between(100ms, 3s);
  return appoint;
}

Depose Operator::ChooseDepose(const Election& seen) {
  Depose depose{seen.name, seen.term, Duration(0), {}};
  if (world_.random.OneIn(2)) depose.cool_down = world_.random.Between(100ms, 4s);
  return depose;
}

Configure Operator::ChooseConfigure(const ElectionName& name) {
  Random& random = world_.random;
  const auto sometimes = [&](Duration most) {
    return random.OneIn(2) ? random.Between(0s, most) : Duration(0);
  };
  Configure configure;
  configure.election = name;
  if (random.OneIn(2)) configure.lock_delay = sometimes(2s);
  if (random.OneIn(2)) configure.min_hold = sometimes(2s);
  if (random.OneIn(4)) configure.queue_max = random.Below(5);
  // Shorter than what clients ask for keeps them out.
  if (random.OneIn(4)) configure.lease_ttl_max = sometimes(world_.plan.LeaseMax());
  return configure;
}

void Operator::PutInOrder() {
  for (const ElectionName& name : world_.elections) {
    Look(name, [this, name](const std::optional<Election>& seen) {
      if (!seen || seen->deleted) return;
      if (seen->paused) Give(Pause{name, false, {}}, "resumes");
      if (seen->settings == Settings()) return;
      Configure defaults;
      defaults.election = name;
      defaults.lock_delay = defaults.min_hold = defaults.lease_ttl_max = Duration(0);
      defaults.queue_max = 0;
      Give(std::move(defaults), "puts in order");
    });
  }
  world_.After(kInspectionInterval, [this] { PutInOrder(); });
}

template <typename It>
void Operator::Give(It command, const std::string& what) {
  const size_t number = world_.asked.orders.size();
  command.author = {name_, "#" + std::to_string(number)};
  world_.Say("{} {} {}: order {}", name_, what, command.election.bytes, number);
  world_.asked.orders.push_back({Command(std::move(command))});
  Send(number, kTriesMax);
}

void Operator::EndSession(const SessionId& session) {
  const size_t number = world_.asked.orders.size();
  world_.Say("{} ends session {}: order {}", name_, NameOf(session), number);
  world_.asked.orders.push_back({session});
  Send(number, kTriesMax);
}

// The age of a purge is counted from when the last use was published.
void Operator::PurgeAll() {
  const size_t number = world_.asked.orders.size();
  world_.Say("{} purges: order {}", name_, number);
  world_.asked.orders.push_back({WholePurge{}});
  Send(number, kTriesMax);
}

void Operator::Send(size_t number, int tries_left) {
  const auto serve = [this, number](Replica& replica, Respond<Answer> respond) {
    Serve(number, replica, std::move(respond));
    return nullptr;
  };
  const int replica = AnyReplica();
  (void)network_.Send<Answer>(replica, serve, [=, this](const Result<Answer>& answer) {
    OnAnswer(number, tries_left, answer);
  });
}

void Operator::OnAnswer(size_t number, int tries_left, const Result<Answer>& answer) {
  const bool unknown = !answer && (answer.error().reason == Reason::kStoreUnavailable ||
                                   answer.error().reason == Reason::kOverloaded);
  if (answer) {
    const bool changed = std::get<AdminAnswer>(*answer).changed;
    world_.Say("order {} is answered: {}", number, changed ? "done" : "nothing to do");
    if (changed && world_.asked.orders[number].records == 0) {
      world_.Violate("order {} is said to be done, and has no record", number);
    }
  } else {
    world_.Say("order {} is answered: {}", number, answer.error().message);
  }
  const bool again = unknown || world_.random.OneIn(4);
  if (!again || tries_left == 0 || world_.quiet) return;
  world_.After(world_.random.Between(1ms, 1s), [=, this] { Send(number, tries_left - 1); });
}

Command Operator::WithMutation(const Command& command) const {
  const Election* now = auditor_.Find(ElectionsOf(command).front());
  if (!world_.mutation.orders_ignore_term || now == nullptr) return command;
  Command changed = command;
  std::visit(
      [&]<typename It>(It& it) {
        constexpr bool names_term =
            std::is_same_v<It, Appoint> || std::is_same_v<It, Depose> || std::is_same_v<It, Delete>;
        if constexpr (names_term) it.term = now->term;
      },
      changed);
  return changed;
}

void Operator::Serve(size_t number, Replica& replica, Respond<Answer> respond) const {
  const Order& order = world_.asked.orders[number];
  engine::Engine& engine = replica.engine();
  if (const auto* command = std::get_if<Command>(&order.wish)) {
    return engine.Submit(WithMutation(*command), std::move(respond));
  }
  const Author author{name_, "#" + std::to_string(number)};
  if (std::holds_alternative<WholePurge>(order.wish)) {
    return engine.Purge({{Duration(0), false, author}, "", "", world_.elections.size()},
                        [respond = std::move(respond)](const Result<engine::PurgePage>& page) {
                          respond(page.map([](const engine::PurgePage& it) {
                            return Answer(AdminAnswer{{}, !it.purged.empty()});
                          }));
                        });
  }
  const std::string handle = std::get<SessionId>(order.wish).Handle();
  engine.Read<std::optional<SessionId>>(
      [handle](OperatorStore& store) { return store.FindSession(handle); },
      [&engine, author,
       respond = std::move(respond)](const Result<std::optional<SessionId>>& found) {
        if (!found) return respond(tl::unexpected(found.error()));
        if (!*found) return respond(Fail(Reason::kSessionNotFound, "no session has this handle"));
        engine.DeposeSession(**found, author, [respond](const Result<engine::Closed>& closed) {
          respond(closed.map([](const engine::Closed& it) {
            return Answer(AdminAnswer{{}, it.deposed});
          }));
        });
      });
}

}  // namespace tenure::sim
