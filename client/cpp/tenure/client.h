// A candidate's connection to a Tenure service: its endpoints, its session, one KeepAlive stream.
//
// A client is one candidate. All its electors, for however many elections, share one session and
// one heartbeat. The first campaign opens the session. When the client and all its electors are
// gone, the session is ended, and all its seats and places are given up.
//
// Several endpoints are replicas of one service. The client uses one at a time, and switches to
// another as soon as that one fails, reports that it is not healthy, or does not answer within half
// a heartbeat. What must last is in the service's database, so a switch loses nothing while the
// lease lasts.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "tenure/log.h"

namespace grpc {
class ChannelCredentials;
class Status;
}  // namespace grpc
namespace prometheus {
class Registry;
}

namespace tenure {

class ClientLoop;
class TestClock;

struct ClientOptions {
  // Replicas: "host:port[,host:port...]". A host name may resolve to several addresses.
  std::string endpoints = "127.0.0.1:7070";
  // The candidate's name, for people: "host-7:4242". 1 to 255 bytes of UTF-8 without control
  // characters.
  std::string candidate;
  // How long the seats are kept after the last renewal. Renewals are sent every third of it. Zero:
  // the default of the election or the service. docs/clients.md helps you choose.
  std::chrono::milliseconds lease_ttl{0};
  // End older sessions of the same candidate in the elections of this client, and take over their
  // seats and places, so that a restarted process need not wait for its own old lease. Use it only
  // if no two processes share a candidate name.
  bool supersede = false;
  // Gets the client's log lines. Empty: nothing is logged. gRPC's own log stays silent, unless
  // GRPC_VERBOSITY or GRPC_TRACE is set.
  Log log = LogToStandardError;
  // The id of the service, 32 lower-case hexadecimal digits; `tenure status` shows it. Empty:
  // learned from the endpoints. If they belong to different services, because one of them works on
  // another database, the service of most of them is used; the others are not, and are named in the
  // log.
  std::string service_id = "";
  // Null: a connection without TLS.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
  // Registry for the metrics listed in docs/clients.md; null: no metrics. Each client needs its
  // own.
  std::shared_ptr<prometheus::Registry> registry = nullptr;
  // Set by FakeTenure (tenure/testing.h) alone.
  std::shared_ptr<TestClock> test_clock = nullptr;
};

// Thread-safe. Copies share one client. It runs three threads of its own, besides gRPC's.
class Client {
 public:
  // Does not connect yet. Throws std::invalid_argument if an option is malformed.
  explicit Client(ClientOptions options);

  // Asks the work of its electors to end, gives up their seats and places, and ends the session.
  // Waits for all that, for at most `patience`: OK, or why it could not be done; then its seats are
  // free when the lease has ended. Work may take half of the patience; then its seat is given up
  // while it goes on. Without it, the session is ended when the client and all its electors are
  // gone, and nobody learns whether that went well. Electors of a closed client never campaign.
  // Not to be called from `on_overrun` or a std::stop_callback.
  [[nodiscard]] grpc::Status Close(std::chrono::milliseconds patience);

 private:
  friend class Elector;
  std::shared_ptr<ClientLoop> loop_;
};

}  // namespace tenure
