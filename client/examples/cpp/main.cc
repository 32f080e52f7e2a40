// Stands for one election, works while it leads, and prints every change of who leads.
//
// It uses nothing but the stubs generated from election.proto, whose comments are the contract.
#include <getopt.h>
#include <signal.h>

#include <cstdlib>
#include <stop_token>
#include <thread>

#include "candidate.h"
#include "replicas.h"
#include "streams.h"

namespace {

// Of an Observe stream, which says something at least every 10 s.
constexpr auto kSilenceMax = std::chrono::seconds(25);

void SayObserved(uint64_t revision, const std::string& type, uint64_t term,
                 const pb::Leadership* leader, pb::Cause cause) {
  Say({{"event", "observed"},
       {"revision", revision},
       {"type", type},
       {"term", term},
       {"candidate", leader ? Json(leader->candidate()) : Json()},
       {"cause", cause == pb::CAUSE_UNSPECIFIED ? Json() : Json(Word(cause))}});
}

// Leaves in the selector from where the next stream has to go on.
void TakeIn(const pb::ObserveResponse& message, pb::Selector& selector) {
  if (message.has_event()) {
    const auto& event = message.event();
    SayObserved(event.revision(), WithoutPrefix(pb::Event::Type_Name(event.type()), "TYPE_"),
                event.leadership().term(), &event.leadership(), event.cause());
    selector.set_from_revision(event.revision() + 1);
  } else if (message.has_snapshot()) {
    const auto& snapshot = message.snapshot();
    const bool resync = snapshot.reason() == pb::Snapshot::REASON_RESYNC;
    SayObserved(snapshot.revision(), resync ? "RESYNC" : "SNAPSHOT", snapshot.term(),
                snapshot.has_leader() ? &snapshot.leader() : nullptr, pb::CAUSE_UNSPECIFIED);
    selector.set_from_revision(snapshot.revision() + 1);
  }
}

// Prints every change, each once and in order, from whichever replica.
void Observe(std::stop_token stop, const std::string& election, Replicas replicas) {
  pb::ObserveRequest request;
  pb::Selector& selector = *request.add_selectors();
  selector.set_election(election);
  while (!stop.stop_requested()) {
    ObserveStream stream(replicas.Current(), request);
    while (const auto message = stream.mailbox().Take(stop, kSilenceMax)) {
      replicas.Answered();
      TakeIn(*message, selector);
    }
    if (const auto status = stream.mailbox().status()) Complain(*status);
    Sleep(stop, replicas.Failed(stream.service()));
  }
}

struct Arguments {
  std::string endpoints = "127.0.0.1:7070";
  double ttl_s = 10;
  std::string election;
  std::string candidate;
};

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  const auto refuse = [] {
    std::fputs("usage: candidate [--endpoints HOST:PORT,...] [--ttl SECONDS] ELECTION CANDIDATE\n",
               stderr);
    std::exit(2);
  };
  if (const char* endpoints = std::getenv("TENURE_ENDPOINTS")) arguments.endpoints = endpoints;
  const option options[] = {
      {"endpoints", required_argument, nullptr, 'e'}, {"ttl", required_argument, nullptr, 't'}, {}};
  for (int given; (given = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    if (given == 'e') {
      arguments.endpoints = optarg;
    } else if (given == 't') {
      char* end = nullptr;
      arguments.ttl_s = std::strtod(optarg, &end);
      if (end == optarg || *end != '\0') refuse();
    } else {
      refuse();
    }
  }
  if (argc - optind != 2) refuse();
  arguments.election = argv[optind];
  arguments.candidate = argv[optind + 1];
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = Parse(argc, argv);

  // Before any other thread begins: all inherit that these signals are blocked.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::stop_source stop;
  std::thread([stop, signals]() mutable {
    int number = 0;
    sigwait(&signals, &number);
    stop.request_stop();
  }).detach();

  const Replicas replicas(arguments.endpoints);
  const std::jthread observer(Observe, arguments.election, replicas);
  const auto ttl =
      std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(arguments.ttl_s));
  Candidate candidate(arguments.election, arguments.candidate, replicas, ttl);
  return candidate.Run(stop.get_token()).ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
