// The small HTTP server: /metrics, /healthz and /readyz, for clients that may see nothing else.
//
// HTTP/1.1 with GET, HEAD and OPTIONS, one request per connection. `Host` is optional. One thread
// serves all. A slow client delays no other: each request has a deadline as a whole, and when there
// are too many connections, the oldest makes room. However many clients ask for metrics, others
// wait for at most one rendering, which those clients share. docs/adr/0041-connections.md says why
// no library does this.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "server/network/descriptor.h"

namespace tenure::network {

// Called on the server's thread: they must not block.
struct HttpPages {
  std::function<std::string()> metrics;
  std::function<bool()> healthy;
  std::function<bool()> ready;
};

// Whether the server on this "host:port" answers /healthz, within some seconds. The error is one
// sentence for the operator.
[[nodiscard]] tl::expected<void, std::string> AskHealthz(const std::string& address);

class HttpServer {
 public:
  using Clock = std::chrono::system_clock;

  // Serves on a thread of its own. `now` dates the answers.
  HttpServer(std::vector<Descriptor> listeners, HttpPages pages,
             std::function<Clock::time_point()> now = Clock::now);
  ~HttpServer();

 private:
  // One request, and its answer.
  struct Exchange {
    Descriptor connection;
    std::chrono::steady_clock::time_point deadline;
    std::string request = {};
    bool head = false;                               // wants no body
    bool wants_metrics = false;                      // answered when the others have had their turn
    std::shared_ptr<const std::string> answer = {};  // once set, the request is not read on
    size_t sent = 0;                                 // of the answer
    bool answered = false;                           // all was sent; further input is discarded
    size_t discarded = 0;                            // bytes
  };
  using Exchanges = std::list<Exchange>;  // the oldest first

  void Run();
  void AcceptAll(const Descriptor& listener);
  // Each goes as far as it can. False: the exchange has ended.
  bool GoOn(Exchange& exchange) const;
  bool Receive(Exchange& exchange) const;
  static bool Send(Exchange& exchange);
  // Reads the rest of a request that was answered early: closing the connection with unread input
  // can reset it, and the client would lose the answer.
  static bool Drain(Exchange& exchange);
  // The request is complete, or too large.
  void AnswerTo(Exchange& exchange, bool too_large) const;
  void Answer(Exchange& exchange, const std::string& answer) const;
  [[nodiscard]] std::string Dated(std::string answer) const;
  // For all pages except the metrics, and for all methods.
  [[nodiscard]] std::string AnswerAt(std::string_view path, std::string_view method) const;
  void AnswerWithMetrics();

  const std::vector<Descriptor> listeners_;
  const HttpPages pages_;
  const std::function<Clock::time_point()> now_;
  Exchanges exchanges_;
  Descriptor stop_;  // readable: stop
  std::thread thread_;
};

}  // namespace tenure::network
