// The server's main program.
#include <absl/synchronization/mutex.h>
#include <grpcpp/grpcpp.h>
#include <malloc.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <thread>

#include "base/version.h"
#include "command_line/standard_output.h"
#include "server/engine/engine.h"
#include "server/engine/work/scheduler.h"
#include "server/log/log.h"
#include "server/network/http_server.h"
#include "server/network/listening.h"
#include "server/process/check.h"
#include "server/process/config.h"
#include "server/process/grpc_server.h"
#include "server/process/library_log.h"
#include "server/process/service_manager.h"
#include "server/process/store_commands.h"
#include "server/rpc/admin_service.h"
#include "server/rpc/election_service.h"
#include "server/rpc/peers.h"
#include "server/rpc/replica_service.h"
#include "tls/openssl_at_exit.h"

namespace tenure::process {
namespace {

using namespace std::chrono_literals;

constexpr auto kBringUpPause = 500ms;
constexpr auto kWatchPause = 200ms;
constexpr auto kDrainPause = 5ms;
constexpr auto kMemoryPause = 10s;

// Waits for SIGTERM or SIGINT, for a bounded time.
class Signals {
 public:
  // Blocks the signals in this thread and all that it starts from now on.
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGXFSZ,
                SIG_IGN);  // a limit on the size of files fails the write, as a full disk does
  }

  bool Arrived(std::chrono::milliseconds patience) {
    const timespec time{patience.count() / 1000, patience.count() % 1000 * 1'000'000};
    return sigtimedwait(&set_, nullptr, &time) > 0;
  }

 private:
  sigset_t set_;
};

// Logs what is wrong with the store, now and then while it lasts.
class StoreComplaints {
 public:
  explicit StoreComplaints(engine::Engine& engine) : engine_(engine) {}

  void Away(const std::string& why) {
    engine_.SetStoreFault(why);
    if (silent_++ % kSilence == 0)
      LogWarning("the store cannot be used yet, retrying", {{"error", why}});
  }
  void Back() {
    engine_.SetStoreFault("");
    silent_ = 0;
  }

 private:
  static constexpr int kSilence = 20;  // tries
  engine::Engine& engine_;
  int silent_ = 0;
};

std::string NewReplicaId() {
  std::random_device random;
  std::string id(16, '\0');
  std::ranges::generate(id, [&] { return static_cast<char>(random()); });
  return id;
}

// Warns if clients that can connect to the gRPC port may do more than they should.
void WarnOfExposure(const ServerConfig& config) {
  const bool tls = !config.tls.certificate.empty();
  const bool certified = !config.tls.client_ca.empty() &&
                         config.tls.client_certificates == access::ClientCertificates::kRequired;
  if (!config.policy.empty()) {
    if (tls) return;
    LogWarning(
        "there is a policy but no TLS: tokens are sent in clear text, and client certificates not "
        "at all");
  } else if (!certified && !network::IsLoopback(network::ParseAddress(config.listen)->host)) {
    LogWarning(tls ? "every client that can reach --listen may do everything, such as depose "
                     "leaders: set --policy, or --tls-client-ca"
                   : "every client that can reach --listen may do everything, such as depose "
                     "leaders, and nothing is encrypted: set --tls-cert, --tls-key and --policy",
               {{"listen", config.listen}});
  }
}

// Regularly returns the memory that a burst of calls has left free to the system: the allocator
// otherwise keeps all but the end of its heaps. Threads that allocate may have to wait meanwhile,
// so this takes at most a thousandth of the time.
void ReturnFreeMemory(engine::Scheduler& scheduler) {
  const engine::SteadyTime begun = scheduler.Now();
  malloc_trim(0);
  const engine::SteadyTime done = scheduler.Now();
  const auto pause = std::max<engine::SteadyTime::duration>(kMemoryPause, 1000 * (done - begun));
  scheduler.PostAt(engine::Work::kBackground, done + pause,
                   [&scheduler] { ReturnFreeMemory(scheduler); });
}

// Until a signal arrives: starts the engine, keeps the health service up to date, and rereads files
// that may change. Returns the exit code if the process has to end by itself.
std::optional<int> Serve(Store& store, const engine::ThreadScheduler& scheduler,
                         engine::Engine& engine, const std::function<void()>& refresh_files,
                         const ServerConfig& config, wire::HealthService& health,
                         ServiceManager& service_manager, Signals& signals) {
  StoreComplaints complaints(engine);
  while (true) {
    const auto prepared = PrepareSchema(store, config, service_manager);
    if (!prepared && prepared.error().fatal) return Complain(prepared.error().message);
    const auto started = prepared ? engine.Start() : Result<void>();
    if (prepared && started) break;
    const std::string why = prepared ? started.error().message : prepared.error().message;
    complaints.Away(why);
    service_manager.Status("Waiting for the store: " + why);
    if (signals.Arrived(kBringUpPause)) return std::nullopt;
    refresh_files();
  }
  complaints.Back();
  service_manager.Ready();
  bool answers = false;
  bool was_ready = false;
  do {
    service_manager.Ping(scheduler.Now(), scheduler.Stalled());
    refresh_files();
    const bool answered = std::exchange(answers, engine.StoreAnswers());
    service_manager.Status(answers ? "Serving" : "Not serving: the store does not answer");
    if (answered != answers) health.SetServing(answers);
    if (answers) {
      complaints.Back();
      if (!answered) LogInfo(std::exchange(was_ready, true) ? "the store answers again" : "ready");
      continue;
    }
    // Logged before anything below asks the store, which may take long to answer.
    if (answered) {
      LogWarning("not serving: renewals wait, and sessions do not age",
                 {{"why", engine.status().why_not}});
    }
    // The database may come back as another service's, which the engine refuses.
    const auto key = store.FindSessionKey();
    const auto served = engine.session_key();
    if (key && *key && served && **key != *served) continue;
    // It may also come back without tables.
    const auto prepared_again = PrepareSchema(store, config, service_manager);
    if (!prepared_again) {
      if (prepared_again.error().fatal) return Complain(prepared_again.error().message);
      complaints.Away(prepared_again.error().message);
    } else if (const auto fault = engine.beat_fault()) {
      complaints.Away("cannot write to the database: " + fault->message);
    }
  } while (!signals.Arrived(kWatchPause));
  return std::nullopt;
}

engine::EngineOptions EngineOptionsOf(const ServerConfig& config) {
  engine::EngineOptions options;
  options.limits = config.limits;
  options.retention = config.retention;
  options.feed_interval = config.feed_interval;
  options.seed = std::random_device()();
  options.on_lost_commits = config.on_lost_commits;
  options.service_id = config.service_id;
  return options;
}

void LogStart(const ServerConfig& config) {
  LogInfo("listening", {{"version", kVersion},
                        {"grpc_version", grpc::Version()},
                        {"grpc", config.listen},
                        {"http", config.http_listen},
                        {"advertise", config.advertise},
                        {"store", config.store_url},
                        {"tls", config.tls.certificate},
                        {"policy", config.policy}});
  WarnOfExposure(config);
}

// Hands the sessions over, and ends the open calls, within `timeout`.
void Drain(engine::Engine& engine, rpc::ReplicaService& replicas, GrpcServer& server,
           std::chrono::milliseconds timeout) {
  LogInfo("draining");
  server.health().SetServing(false);
  const auto drained_by = std::chrono::system_clock::now() + timeout;
  const auto wait_while = [&](auto busy) {
    while (busy() && std::chrono::system_clock::now() < drained_by) {
      std::this_thread::sleep_for(kDrainPause);
    }
  };
  engine.Drain();
  wait_while([&] { return !engine.retired(); });
  engine.hub().Drain();
  // Ending calls may still commit, which other replicas must hear: wait for them first.
  wait_while([&] { return engine.hub().watchers() > 0; });
  replicas.Drain();
  server.Shutdown(drained_by);
}

// Rereads the policy and the TLS files, if they have changed.
void RefreshFiles(access::Access& access, access::Tls& tls, Metrics& metrics) {
  metrics.policy_reloaded.Set(access.Refresh() ? 1 : 0);
  metrics.tls_reloaded.Set(tls.Refresh() ? 1 : 0);
  const auto expiry = tls.expires_at().value_or(access::Tls::Time());
  metrics.tls_certificate_expiry.Set(
      std::chrono::duration<double>(expiry.time_since_epoch()).count());
}

// Wires the rooms together, and serves until a signal arrives.
int RunReplica(Store& store, const ServerConfig& config, ServiceManager& service_manager,
               Signals& signals) {
  const auto tls = access::Tls::Open(config.tls);
  if (!tls) return Complain(tls.error());
  Metrics metrics(config.metrics);
  engine::ThreadScheduler scheduler;
  const auto access = access::Access::Open(config.policy, [&] { return scheduler.Now(); });
  if (!access) return Complain(access.error());
  const auto refresh_files = [&] { RefreshFiles(**access, **tls, metrics); };
  refresh_files();
  engine::EngineOptions options = EngineOptionsOf(config);
  rpc::ReplicaService replicas(metrics, NewReplicaId(), SharedSettingsOf(config));
  options.on_commit = [&](PartitionOffset at) { replicas.Committed(at); };
  options.self = {replicas.id(), config.advertise};
  std::function<void(const std::vector<Peer>&)> follow;
  options.on_peers = [&](const std::vector<Peer>& others) { follow(others); };
  engine::Engine engine(store, scheduler, metrics, options);
  const auto service_id = [&] { return engine.service_id(); };
  (*access)->Serve(service_id);
  replicas.Serve(service_id, [&] { engine.FindPeers(); });
  rpc::ElectionService elections(engine, **access, {});
  rpc::AdminService administration(engine, **access, config.store_url);
  auto http_listeners = network::Listen(config.http_listen, "HTTP");
  if (!http_listeners) return Complain(http_listeners.error());
  const auto server = GrpcServer::Start(
      {config.listen, (*tls)->ForServer(), config.connections, config.grpc_threads,
       !config.tls.certificate.empty(),
       [&](const grpc::ServerContextBase& context) {
         return (*access)->Identify(context).map([](const auto&) {});
       }},
      [&](wire::Dispatcher& dispatcher) {
        elections.AddTo(dispatcher);
        administration.AddTo(dispatcher);
        replicas.AddTo(dispatcher);
      },
      metrics);
  if (!server) return Complain(server.error());
  rpc::Peers peers(scheduler, metrics, (*server)->queue(), (*tls)->ForPeers(), service_id,
                   {config.advertise, SharedSettingsOf(config)},
                   [&](const PartitionOffsets& offsets) { engine.Nudged(offsets); });
  follow = [&](const std::vector<Peer>& others) { peers.Follow(others); };
  const auto denied = [&](const auto& call) { return (*access)->Denies(call.context()); };
  (*access)->OnDenied([&] { (*server)->Cancel(denied); });
  const auto metrics_page = [&] {
    (*server)->CountNewcomers();
    return engine.ExposeMetrics();
  };
  const network::HttpServer http(
      *std::move(http_listeners),
      {metrics_page, [&] { return (*server)->Healthy(); }, [&] { return engine.Ready(); }});
  LogStart(config);
  ReturnFreeMemory(scheduler);
  const auto exit_code = Serve(store, scheduler, engine, refresh_files, config, (*server)->health(),
                               service_manager, signals);
  service_manager.Stopping();
  Drain(engine, replicas, **server, config.drain_timeout);
  scheduler.Stop();
  LogInfo("stopped");
  return exit_code.value_or(EXIT_SUCCESS);
}

int Run(const ServerConfig& config, ServiceManager& service_manager, Signals& signals) {
  if (config.check) return Check(config);
  if (const auto fault = FaultOfFile(config)) return Complain(*fault);
  auto store = OpenStore(config.store);
  if (!store) return Complain(store.error().message);
  if (config.migrate_only) return Migrate(**store, config, service_manager);
  if (config.bump_terms) return BumpAllTerms(**store, config, service_manager);
  return RunReplica(**store, config, service_manager, signals);
}

int Main(int argc, char** argv) {
  const auto config = ParseServerConfig(argc, argv);
  if (!config) return config.error();
  if (config->healthcheck) {
    const auto healthy = network::AskHealthz(config->http_listen);
    return healthy ? EXIT_SUCCESS : Complain(healthy.error());
  }
  Signals signals;  // before any thread is started
  // Debian's build of Abseil checks for deadlocks at each of gRPC's locks, under one lock for all.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  StartLog(config->log);
  TakeOverLibraryLogs();
  ServiceManager service_manager;
  const int exit_code = Run(*config, service_manager, signals);
  GiveBackLibraryLogs();
  if (!StopLog()) std::_Exit(exit_code);
  return exit_code;
}

}  // namespace
}  // namespace tenure::process

int main(int argc, char** argv) {
  tenure::tls::KeepOpenSslAtExit();
  std::signal(SIGPIPE, SIG_IGN);  // writing to a pipe without a reader then fails
  const int exit_code = tenure::process::Main(argc, argv);
  const std::string fault = tenure::FaultOfOutput();
  return fault.empty() ? exit_code : tenure::process::Complain(fault);
}
