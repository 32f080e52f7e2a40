#include "tests/chaos/vitals.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace tenure::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGrowthMax = 1.05;
constexpr auto kBetweenNeeds = 5s;
constexpr auto kBetweenTimes = 50ms;
constexpr auto kCallPatience = 5s;
constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kMegabyte = 1 << 20;

// Ended sessions are kept for an hour, and rows of writers and replicas for longer: they are fewer
// in the first minutes than later, and nothing is wrong with that.
constexpr std::pair<const char*, const char*> kRows[] = {
    {"elections", "elections"},
    {"candidacies", "candidacies"},
    {"events", "events"},
    {"cool-downs", "cool_downs"},
    {"live sessions", "sessions WHERE state = 0"},
};

void NoteNeeds(World& world, Vitals& vitals) {
  double bytes = 0;
  size_t descriptors = 0;
  for (int i = 0; i < world.plan().replicas; ++i) {
    const Process& process = world.replica(static_cast<size_t>(i)).process();
    bytes += process.ResidentBytes();
    descriptors += process.Descriptors();
  }
  vitals.Note("memory of the replicas, MB", NowNs(), bytes / kMegabyte);
  vitals.Note("descriptors of the replicas", NowNs(), static_cast<double>(descriptors));
  for (const auto& [what, rows] : kRows) {
    const Finished counted =
        world.databases().server(0).Query(fmt::format("SELECT COUNT(*) FROM tenure.{}", rows));
    if (counted.exit_code != 0) continue;  // a fault
    vitals.Note(std::string("rows: ") + what, NowNs(), std::stod(counted.output));
  }
}

// Notes how many milliseconds a call took, unless it failed.
template <typename Call>
void NoteTime(Vitals& vitals, const std::string& what, const Call& call) {
  const Nanoseconds begun = NowNs();
  if (!call()) return;
  const Nanoseconds done = NowNs();
  vitals.Note(what, done, static_cast<double>(done - begun) / kNanosecondsPerMillisecond);
}

class Caller {
 public:
  explicit Caller(World& world)
      : stub_(Connect(world.replica(0).endpoint())), election_(world.elections().front()) {}

  void NoteTimes(Vitals& vitals) {
    NoteTime(vitals, "campaign and resignation, ms", [&] { return CampaignAndResign(); });
    NoteTime(vitals, "reading of a leader, ms", [&] { return Read(); });
  }

 private:
  bool CampaignAndResign() {
    v1::CampaignResponse seat;
    const auto campaign = ToRequest({.election = "soak", .candidate = "soak"});
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
    if (!stub_->Campaign(&context, campaign, &seat).ok()) return false;
    v1::ResignRequest request;
    request.set_session_id(seat.session().session_id());
    v1::ResignResponse response;
    grpc::ClientContext another;
    another.set_deadline(std::chrono::system_clock::now() + kCallPatience);
    return stub_->Resign(&another, request, &response).ok();
  }
  bool Read() {
    v1::LeaderRequest request;
    request.set_election(election_);
    v1::LeaderResponse response;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallPatience);
    return stub_->Leader(&context, request, &response).ok();
  }

  const std::unique_ptr<v1::ElectionService::Stub> stub_;
  const std::string election_;
};

// Runs `step` at this interval, without catching up more than one interval.
template <typename Step>
void Repeat(const std::stop_token& stop, Clock::duration interval, const Step& step) {
  for (auto next = Clock::now(); !stop.stop_requested(); next += interval) {
    std::this_thread::sleep_until(next);
    step();
    next = std::max(next, Clock::now() - interval);
  }
}

double Median(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half);
  return *half;
}

}  // namespace

void Vitals::Note(const std::string& what, Nanoseconds at, double value) {
  const std::lock_guard lock(mutex_);
  noted_[what].emplace_back(at, value);
}

bool Vitals::Course::grew() const { return medians.back() > medians.front() * kGrowthMax; }

std::vector<Vitals::Course> Vitals::Courses(Nanoseconds from, Nanoseconds until,
                                            Nanoseconds part) const {
  const std::lock_guard lock(mutex_);
  const Nanoseconds begin = from + (until - from) % part;
  std::vector<Course> courses;
  for (const auto& [what, noted] : noted_) {
    std::vector<std::vector<double>> parts(static_cast<size_t>((until - begin) / part));
    for (const auto& [at, value] : noted) {
      if (at >= begin && at < until)
        parts[static_cast<size_t>((at - begin) / part)].push_back(value);
    }
    Course course{what, {}};
    for (std::vector<double>& values : parts) {
      if (values.empty()) throw std::runtime_error("no values for: " + what);
      course.medians.push_back(Median(std::move(values)));
    }
    courses.push_back(std::move(course));
  }
  return courses;
}

VitalsRecorder::VitalsRecorder(World& world, Vitals& vitals)
    : needs_([&](const std::stop_token& stop) {
        Repeat(stop, kBetweenNeeds, [&] { NoteNeeds(world, vitals); });
      }),
      times_([&](const std::stop_token& stop) {
        Caller caller(world);
        Repeat(stop, kBetweenTimes, [&] { caller.NoteTimes(vitals); });
      }) {}

}  // namespace tenure::testing
