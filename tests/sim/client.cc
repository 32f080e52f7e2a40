#include "tests/sim/client.h"

#include "tests/sim/values.h"

namespace tenure::sim {

using namespace std::chrono_literals;
using testing::ManualScheduler;

Client::Client(World& world, Network& network, Resource& resource, const Auditor& auditor,
               int number)
    : world_(world),
      network_(network),
      resource_(resource),
      auditor_(auditor),
      number_(number),
      name_("c" + std::to_string(number)),
      candidate_(world.plan.twins && number == 1 ? "c0" : name_),
      drift_(world.random.Between(-world.plan.drift_max, world.plan.drift_max)),
      replica_(number % world.plan.replicas) {
  NewSession();
  MoveOn();
}

Client::Time Client::Now() const {
  const auto passed = world_.Now() - ManualScheduler::kStart;
  return ManualScheduler::kStart + passed + passed * drift_ / 1'000'000;
}

void Client::At(Time when, Task task) {
  // Rounded up: when it runs, its time has come.
  const auto left = std::max(when - Now(), Time::duration(0));
  const auto truly = left * 1'000'000 / (1'000'000 + drift_) + 1us;
  world_.scheduler.PostAt(engine::Work::kBackground, world_.Now() + truly,
                          [this, task = std::move(task)] { Do(task); });
}

void Client::Do(Task task) {
  if (stopped_) return waiting_.push_back(std::move(task));
  task();
}

void Client::Stop() {
  if (std::exchange(stopped_, true)) return;
  world_.Say("{} is stopped", name_);
}

void Client::GoOn() {
  if (!std::exchange(stopped_, false)) return;
  world_.Say("{} goes on", name_);
  const auto waiting = std::exchange(waiting_, {});
  for (const Task& task : waiting) task();
}

CampaignRequest<Campaign> Client::RequestFor(const ElectionName& election, int32_t priority) {
  CampaignRequest<Campaign> request;
  Campaign& campaign = request.command;
  campaign.election = election;
  campaign.session = session_;
  campaign.priority = priority;
  campaign.value = ValueWith(priority, world_.random.Below(4));
  campaign.opening = Opening();
  if (session_is_known_) campaign.candidate = candidate_;
  campaign.supersede = supersedes_;
  return request;
}

std::optional<Campaign::Opening> Client::Opening() const {
  if (session_is_known_) return std::nullopt;
  return Campaign::Opening{candidate_, world_.plan.lease_ttl, previous_};
}

void Client::NewSession() {
  if (world_.plan.names_previous && sessions_ > 0) previous_ = session_;
  supersedes_ = false;
  session_ = SessionOf(number_, ++sessions_);
  session_is_known_ = false;
  world_.sessions.insert(session_);
}

void Client::NewSessionThatSupersedes() {
  NewSession();
  supersedes_ = true;
}

void Client::MoveOn() {
  // As the libraries do: the next one.
  if (world_.plan.Calm()) {
    replica_ = (replica_ + 1) % world_.plan.replicas;
    return;
  }
  replica_ = static_cast<int>(world_.random.Below(static_cast<uint64_t>(world_.plan.replicas)));
}

void Client::CheckGrant(const Leadership& leadership) {
  const auto granted = auditor_.GrantedTo(leadership.election, leadership.term);
  if (granted != session_ || leadership.leader.session != session_) {
    world_.Violate("{} heard that it leads {} in term {}, which is not its own", name_,
                   leadership.election.bytes, leadership.term.value);
  }
}

std::optional<Term> Client::AfterTermWithMutation(const Campaign& campaign) const {
  if (world_.mutation.ignores_after_term) return std::nullopt;
  const Election* now = auditor_.Find(campaign.election);
  const bool any = world_.mutation.ends_any_term && now != nullptr;
  return any ? std::optional(now->term) : campaign.after_term;
}

std::shared_ptr<Call> Client::Stand(CampaignRequest<Campaign> request,
                                    std::function<void(const Result<calls::CampaignReply>&)> done) {
  const Campaign& campaign = request.command;
  world_.Say("{} asks r{} for {} with priority {}", NameOf(session_), replica_,
             campaign.election.bytes, campaign.priority);
  if (campaign.supersede) world_.asked.superseding.insert({campaign.election, candidate_});
  if (campaign.after_term) {
    world_.Say("... after term {}", campaign.after_term->value);
    world_.asked.next[{campaign.election, session_}].insert(campaign.after_term->value);
    request.command.after_term = AfterTermWithMutation(campaign);
  }
  return network_.SendCampaign<calls::WaitingCampaign>(replica_, std::move(request),
                                                       Here<calls::CampaignReply>(std::move(done)));
}

void Client::Submit(Command command, std::function<void(const Result<Answer>&)> done) {
  const auto serve = [this, command](Replica& replica, Respond<Answer> respond) {
    if (const auto* resign = std::get_if<Resign>(&command)) {
      world_.asked.resigned[{resign->election, resign->session}].insert(
          resign->term.value_or(Term{}).value);
    }
    replica.engine().Submit(command, std::move(respond));
    return nullptr;
  };
  (void)network_.Send<Answer>(replica_, serve, Here<Answer>(std::move(done)));
}

void Client::CloseSession(std::function<void(bool over)> done) {
  world_.Say("{} closes its session at r{}", NameOf(session_), replica_);
  const auto serve = [this, session = session_](Replica& replica, Respond<Session> respond) {
    world_.asked.closed.insert(session);
    replica.engine().CloseSession(session, {}, std::move(respond));
    return nullptr;
  };
  (void)network_.Send<Session>(
      replica_, serve, Here<Session>([done = std::move(done)](const Result<Session>& closed) {
        done(closed || closed.error().reason == Reason::kSessionNotFound);
      }));
}

void Client::Retire() {
  CloseSession([this](bool over) {
    if (over) {
      world_.Say("{} retires", name_);
      retired_ = true;
      return;
    }
    MoveOn();
    After(200ms, [this] { Retire(); });
  });
}

}  // namespace tenure::sim
