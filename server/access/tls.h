// TLS for the gRPC port.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "server/access/memory_file.h"

namespace tenure::access {

enum class ClientCertificates { kRequired, kOptional };

// Paths of PEM files.
struct TlsFiles {
  std::string certificate;  // the chain, the server's own first; empty: no TLS
  std::string key;
  std::string client_ca;  // empty: clients are not asked for a certificate
  ClientCertificates client_certificates = ClientCertificates::kRequired;
};

// The TLS files in force. gRPC's own file watcher would accept anything, and then fail every
// handshake. It therefore watches copies, which are made of valid files only.
//
// Must outlive the credentials that it makes. Not thread-safe.
class Tls {
 public:
  // The error is one sentence for the operator.
  [[nodiscard]] static tl::expected<std::unique_ptr<Tls>, std::string> Open(const TlsFiles& files);

  // Puts changed files in force, within a second. Returns false, and keeps the previous ones,
  // unless they are valid together.
  bool Refresh();

  // When the first certificate of the chain in force expires; nothing without TLS. Refresh logs it
  // 14 days ahead, and at that time.
  using Time = std::chrono::system_clock::time_point;
  [[nodiscard]] std::optional<Time> expires_at() const { return expires_at_; }

  [[nodiscard]] std::shared_ptr<grpc::ServerCredentials> ForServer() const;
  // For connections to other replicas, which have certificates like this one. Verifies none:
  // replicas are reached by addresses that no certificate names, and what they say is only a hint.
  // Presents this replica's own where clients need one.
  [[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> ForPeers() const;

 private:
  // The content of the files.
  struct Content {
    std::string certificate;
    std::string key;
    std::string client_ca;

    bool operator==(const Content&) const = default;
  };

  explicit Tls(const TlsFiles& files) : files_(files) {}

  [[nodiscard]] tl::expected<Content, std::string> Read() const;
  [[nodiscard]] tl::expected<void, std::string> Publish(const Content& content);
  void WatchExpiry(Time now);

  const TlsFiles files_;
  Content content_;      // in force
  MemoryFile identity_;  // the key and the chain in one, so that they always match
  MemoryFile client_ca_;
  std::string complaint_;  // of the last Refresh; empty if it was fine
  enum class Validity { kLong, kShort, kOver };
  std::optional<Time> expires_at_;
  Validity logged_ = Validity::kLong;
};

}  // namespace tenure::access
