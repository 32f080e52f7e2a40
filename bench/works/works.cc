#include "bench/works/works.h"

#include <memory>

#include "bench/works/crowd.h"

namespace tenure::bench {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

// Candidates with their own connections, each in its own election.
class Soloists {
 public:
  Soloists(const Replicas& replicas, const std::string& label, size_t count) : candidates_(count) {
    InParallel(count, [&](size_t number) {
      candidates_[number] = replicas[number % replicas.size()]->NewCandidate(
          {.name = "host-" + std::to_string(number)});
    });
    for (size_t number = 0; number < count; ++number) {
      elections_.push_back(label + "-" + std::to_string(number));
    }
  }

  void LeadAll() {
    InParallel(candidates_.size(), [&](size_t number) {
      Await([&](Done done) { candidates_[number]->Campaign(elections_[number], std::move(done)); });
    });
  }

  // All do the same: `work(candidate, election, done)`.
  template <typename Work>
  [[nodiscard]] std::vector<Operation> Each(const Work& work) const {
    std::vector<Operation> operations;
    for (size_t number = 0; number < candidates_.size(); ++number) {
      operations.emplace_back([this, work, number](Done done) {
        work(*candidates_[number], elections_[number], std::move(done));
      });
    }
    return operations;
  }

 private:
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::vector<std::string> elections_;
};

void Cycle(Candidate& candidate, const std::string& election, Done done) {
  candidate.Campaign(election, [&candidate, done = std::move(done)](const std::string& error) {
    if (!error.empty()) return done(error);
    candidate.Resign(done);
  });
}

}  // namespace

Throughput MeasureCycles(const Replicas& replicas, const std::string& label, size_t in_flight,
                         const Window& window) {
  const Soloists soloists(replicas, label, in_flight);
  return RunClosedLoop(soloists.Each(&Cycle), window);
}

void WhileCycling(const Replicas& replicas, const std::string& label, size_t in_flight,
                  const std::function<void()>& work) {
  const Soloists soloists(replicas, label, in_flight);
  const auto never = Clock::time_point::max();
  ClosedLoop cycles(soloists.Each(&Cycle), never, never);
  work();
  (void)cycles.Stop();
}

Throughput MeasureReads(const Replicas& replicas, const std::string& label, size_t in_flight,
                        const Window& window) {
  Soloists soloists(replicas, label, in_flight);
  soloists.LeadAll();
  return RunClosedLoop(
      soloists.Each([](Candidate& candidate, const std::string& election, Done done) {
        candidate.AskLeader(election, std::move(done));
      }),
      window);
}

Throughput MeasureKeepAlives(const Replicas& replicas, const std::string& label, size_t in_flight,
                             const Window& window) {
  Soloists soloists(replicas, label, in_flight);
  soloists.LeadAll();
  return RunClosedLoop(soloists.Each([](Candidate& candidate, const std::string& /*election*/,
                                        Done done) { candidate.KeepAlive(std::move(done)); }),
                       window);
}

std::vector<double> MeasureHandOvers(const Replicas& replicas, const std::string& label,
                                     const HandOverPlan& plan) {
  Crowd crowd(replicas, plan.waiting + plan.count + 1,
              {.name = label, .lease = plan.lease, .own_connection = false});
  crowd.Stand(label);
  std::vector<double> times;
  Crowd::Told leader = crowd.NextTold();
  for (size_t done = 0; done < plan.count; ++done) {
    const auto begun = Clock::now();
    Await([&](Done resigned) { crowd[leader.member].Resign(std::move(resigned)); });
    const Crowd::Told next = crowd.NextTold();
    const bool elsewhere = next.member % replicas.size() != leader.member % replicas.size();
    if (elsewhere || !plan.elsewhere) times.push_back(Milliseconds(next.at - begun).count());
    leader = next;
  }
  return times;
}

}  // namespace tenure::bench
