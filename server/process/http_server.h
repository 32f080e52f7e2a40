// The small HTTP face: /metrics, /healthz and /readyz.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <tl/expected.hpp>

namespace httplib {
class Server;
}

namespace tenure::process {

struct HttpPages {
  std::function<std::string()> metrics;
  std::function<bool()> ready;
};

// Whether the server on this "host:port" answers /healthz, within some seconds. The error is one
// sentence for the operator.
[[nodiscard]] tl::expected<void, std::string> AskHealthz(const std::string& address);

class HttpServer {
 public:
  // Binds "host:port" and serves on threads of its own. The error is one sentence for the operator.
  static tl::expected<std::unique_ptr<HttpServer>, std::string> Start(const std::string& address,
                                                                      HttpPages pages);
  ~HttpServer();

 private:
  explicit HttpServer(HttpPages pages);

  const HttpPages pages_;
  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
};

}  // namespace tenure::process
