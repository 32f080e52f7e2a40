// A candidate's connection with a Tenure service: its endpoints, its session, one KeepAlive stream.
//
// A client is one candidate. However many elections its electors stand in, they share one session
// and one heartbeat. The session is opened by the first campaign; it is ended, and all places and
// seats given up, when the client and all its electors are gone.
//
// Several endpoints are replicas of one service: one is used at a time, and another one as soon as
// it fails, says that it is not healthy, or does not answer within half a heartbeat. All state is
// in the service's database, so nothing is lost by that, as long as the lease lasts.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace grpc {
class ChannelCredentials;
}
namespace prometheus {
class Registry;
}

namespace tenure {

class ClientLoop;

struct ClientOptions {
  // Replicas: "host:port[,host:port...]". A host's name may have many addresses.
  std::string endpoints = "127.0.0.1:7070";
  // Who stands, for people: "host-7:4242". 1 to 255 bytes of UTF-8 without control characters.
  std::string candidate;
  // How long the seats are kept after the last renewal, which is made every third of it. Zero: what
  // the election or the service has as its default. docs/clients.md helps to choose.
  std::chrono::milliseconds lease_ttl{0};
  // End older sessions of the same candidate in the elections that are stood for, and take over
  // their seats and places: a process that restarts does not wait for its own stale lease. Only for
  // names that no two processes share.
  bool supersede = false;
  // Null: a connection without TLS.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
  // Where to count, if anywhere; docs/clients.md lists the metrics. One client for each registry.
  std::shared_ptr<prometheus::Registry> registry = nullptr;
};

// Thread-safe. Copies are the same client. It has two threads of its own, beside gRPC's.
class Client {
 public:
  // Connects to nothing yet. Throws std::invalid_argument if an option is malformed.
  explicit Client(ClientOptions options);

 private:
  friend class Elector;
  std::shared_ptr<ClientLoop> loop_;
};

}  // namespace tenure
