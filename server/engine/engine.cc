#include "server/engine/engine.h"

#include <utility>

namespace tenure::engine {
namespace {

constexpr size_t kPeersMax = 64;

// The other replicas, without earlier runs of this one.
std::vector<Peer> PeersIn(const BeatReport& report, const Peer& self) {
  std::vector<Peer> peers;
  for (const HomeRow& home : report.living) {
    const bool reachable = !home.peer.address.empty() && home.peer.id != self.id;
    if (reachable && peers.size() < kPeersMax) peers.push_back(home.peer);
  }
  return peers;
}

// The campaign's answer, with the session as its home keeps it.
Answer AsKept(Answer answer, const Session& session) {
  if (auto* campaign = std::get_if<CampaignAnswer>(&answer)) campaign->session = session;
  if (auto* set = std::get_if<CampaignForAllAnswer>(&answer)) set->session = session;
  return answer;
}

}  // namespace

Engine::Engine(Store& store, Scheduler& scheduler, Metrics& metrics, EngineOptions options)
    : options_(std::move(options)),
      replica_{.store = store,
               .scheduler = scheduler,
               .metrics = metrics,
               .hub = WatchHub(options_.watchers_max),
               .lineage = Lineage(store, scheduler, metrics, options_.on_lost_commits,
                                  options_.seed, options_.service_id),
               .clock = {},
               .cache = {},
               .home = HomeState(scheduler)},
      feed_(replica_, options_.feed_interval),
      transactions_(replica_),
      publisher_(
          replica_, feed_,
          {[this](const std::vector<SessionId>& ended) { endings_.Settle(ended); },
           [this](const ElectionName& name) { ReconcileElection(name, [](Result<Answer>) {}); },
           [this](Duration after) { timed_work_.Plan(replica_.scheduler.Now() + after); },
           options_.on_commit}),
      commands_(replica_, options_.limits, transactions_, publisher_),
      keeper_(
          replica_, feed_, transactions_, publisher_,
          [this](const BeatReport& report, SteadyTime asked, SteadyTime answered) {
            timed_work_.Begin(report.due, asked, answered);
            if (options_.on_peers) options_.on_peers(PeersIn(report, options_.self));
          },
          options_.self, options_.seed),
      endings_(replica_, commands_, transactions_, publisher_),
      purges_(replica_, transactions_, publisher_),
      timed_work_(replica_, feed_, options_.seed, commands_, endings_),
      reads_(replica_, transactions_,
             [this](const ElectionName& name, Done<Answer> done) {
               ReconcileElection(name, std::move(done));
             }),
      housekeeping_(store, scheduler, metrics, options_.retention),
      exposition_(replica_, Queues()) {}

Result<void> Engine::Start() {
  const auto joined = replica_.lineage.Join();
  if (!joined) return joined;
  const auto key = feed_.ReadSessionKey();
  if (!key) return key;
  const auto home = keeper_.Join();
  if (!home) return home;
  const auto started = feed_.Start();
  if (!started) return started;
  started_ = true;
  keeper_.Start();
  housekeeping_.Start();
  return {};
}

void Engine::SetStoreFault(std::string why) {
  const MutexLock lock(fault_mutex_);
  store_fault_ = std::move(why);
}

std::string Engine::store_fault() const {
  const MutexLock lock(fault_mutex_);
  return store_fault_;
}

Result<std::string> Engine::session_key() const {
  std::string key = feed_.session_key();
  if (key.empty()) return tl::unexpected(WhyNotStarted());
  return key;
}

Result<void> Engine::AdmitCampaign() const {
  if (commands_.Late()) return tl::unexpected(transactions_.WhyFull());
  return {};
}

Result<void> Engine::AdmitRead() const {
  if (reads_.Late()) return tl::unexpected(transactions_.WhyFull());
  return {};
}

void Engine::Submit(Command command, Done<Answer> done, Wanted wanted, std::string trace) {
  if (RefusedWhileClosed(done)) return;
  Done<Answer> once_kept = OnceKept(command, std::move(done));
  commands_.Submit(std::move(command), std::move(once_kept), std::move(wanted), std::move(trace));
}

std::optional<Result<Session>> Engine::RenewNow(const SessionId& session, const Principal& owner) {
  if (WhyClosed()) return std::nullopt;
  return keeper_.RenewNow(session, owner);
}

void Engine::Renew(const SessionId& session, Principal owner, Done<Session> done, Wanted wanted) {
  if (RefusedWhileClosed(done)) return;
  keeper_.Renew(session, std::move(owner), std::move(done), std::move(wanted));
}

void Engine::CloseSession(const SessionId& session, Principal owner, Done<Session> done,
                          std::string trace) {
  if (RefusedWhileClosed(done)) return;
  const auto answer = [done = std::move(done)](const Result<Closed>& closed) {
    done(closed.map([](const Closed& it) { return it.session; }));
  };
  endings_.Close(session, std::move(owner), answer, std::move(trace));
}

void Engine::DeposeSession(const SessionId& session, Author author, Done<Closed> done,
                           std::string trace) {
  if (RefusedWhileClosed(done)) return;
  endings_.Close(session, std::move(author), std::move(done), std::move(trace));
}

void Engine::Purge(PurgeOrder order, Done<PurgePage> done) {
  if (RefusedWhileClosed(done)) return;
  purges_.Submit(std::move(order), std::move(done));
}

void Engine::ReadElection(const ElectionName& name, bool stale_ok,
                          Done<std::optional<Election>> done) {
  if (RefusedWhileClosed(done)) return;
  reads_.ReadElection(name, stale_ok, std::move(done));
}

void Engine::ReadPlace(const PlaceKey& key, bool with_position, Done<Place> done) {
  if (RefusedWhileClosed(done)) return;
  auto once_read = [this, session = key.session, done = std::move(done)](Result<Place> place) {
    // Another replica may have ended the session: the next renewal asks the database.
    if (place && !place->waiting && !place->LedBy(session)) replica_.home.Forget(session);
    done(std::move(place));
  };
  reads_.ReadPlace(key, with_position, std::move(once_read));
}

void Engine::ReadSeats(SeatPage page, Done<std::vector<Leadership>> done) {
  if (RefusedWhileClosed(done)) return;
  reads_.ReadSeats(std::move(page), std::move(done));
}

void Engine::ReadEvents(const ElectionName& name, Revision from, size_t limit,
                        Done<std::vector<Event>> done, Wanted wanted) {
  if (RefusedWhileClosed(done)) return;
  reads_.ReadEvents(name, from, limit, std::move(done), std::move(wanted));
}

void Engine::ReadNames(std::string prefix, std::string after, size_t limit,
                       Done<std::vector<ElectionName>> done, Wanted wanted) {
  if (RefusedWhileClosed(done)) return;
  reads_.ReadNames(std::move(prefix), std::move(after), limit, std::move(done), std::move(wanted));
}

bool Engine::StoreAnswers() const { return !WhyClosed() && replica_.home.Good(); }

std::string Engine::ExposeMetrics() {
  return exposition_.Expose(replica_.hub.watchers(), StoreAnswers(), Ready());
}

void Engine::ReconcileElection(const ElectionName& name, Done<Answer> done) {
  Submit(Reconcile{name, {}}, std::move(done));
}

Engine::Done<Answer> Engine::OnceKept(const Command& command, Done<Answer> done) {
  const auto* campaign = std::get_if<Campaign>(&command);
  const auto* set = std::get_if<CampaignForAll>(&command);
  if (campaign == nullptr && set == nullptr) return done;
  const SessionId& session = campaign != nullptr ? campaign->session : set->session;
  const Principal& principal = campaign != nullptr ? campaign->principal : set->principal;
  return [this, session, principal, done = std::move(done)](Result<Answer> answer) {
    if (!answer) return done(std::move(answer));
    const auto once_renewed = [done, answer = *std::move(answer)](const Result<Session>& kept) {
      done(kept.map([&](const Session& it) { return AsKept(answer, it); }));
    };
    if (const auto renewed = keeper_.RenewNow(session, principal)) return once_renewed(*renewed);
    keeper_.Renew(session, principal, once_renewed, nullptr);
  };
}

std::vector<QueueView> Engine::Queues() const {
  std::vector<QueueView> all;
  for (auto& some : {commands_.Queues(), keeper_.Queues(), reads_.Queues(), endings_.Queues(),
                     purges_.Queues()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Engine::Status Engine::status() const {
  Status status;
  status.store_answers = StoreAnswers();
  status.ready = Ready();
  status.server = replica_.lineage.server();
  if (status.store_answers) status.statistics = housekeeping_.statistics();
  if (status.ready) return status;
  if (const auto closed = WhyClosed()) {
    status.why_not = closed->message;
  } else if (std::string fault = store_fault(); !fault.empty()) {
    status.why_not = std::move(fault);
  } else if (const auto refused = beat_fault()) {
    status.why_not = "cannot write to the database: " + refused->message;
  } else if (!status.store_answers) {
    status.why_not = "the database does not answer";
  } else {
    status.why_not = "this replica is shutting down";
  }
  return status;
}

std::optional<Error> Engine::WhyClosed() const {
  if (auto wrong = replica_.lineage.wrong_service()) return wrong;
  if (!started_) return WhyNotStarted();
  if (!replica_.lineage.open()) {
    return Error{Reason::kStoreUnavailable,
                 "the database lost commits; nothing is served until all terms have been raised"};
  }
  if (!feed_.behind_a_repair()) return std::nullopt;
  return Error{Reason::kStoreUnavailable,
               "this replica has yet to read what its database holds now"};
}

Error Engine::WhyNotStarted() const {
  std::string fault = store_fault();
  if (fault.empty()) fault = "this replica is still waiting for its database";
  return {Reason::kStoreUnavailable, std::move(fault)};
}

}  // namespace tenure::engine
