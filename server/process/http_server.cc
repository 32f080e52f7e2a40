#include "server/process/http_server.h"

#include <httplib.h>

#include <charconv>
#include <utility>

namespace tenure::process {
namespace {

constexpr size_t kThreads = 2;
constexpr char kText[] = "text/plain; charset=utf-8";
constexpr auto kHealthzPatience = std::chrono::seconds(2);

struct Address {
  std::string host;
  int port;
};
tl::expected<Address, std::string> ParseAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ptr != end) port = -1;
  }
  if (port < 0 || port > 65535)
    return tl::unexpected("'" + text +
                          "' is not an address; write HOST:PORT, such as 127.0.0.1:7071");
  return Address{text.substr(0, colon), port};
}

}  // namespace

tl::expected<void, std::string> AskHealthz(const std::string& address) {
  const auto server = ParseAddress(address);
  if (!server) return tl::unexpected(server.error());
  httplib::Client client(server->host, server->port);  // 0.0.0.0 is this machine
  client.set_connection_timeout(kHealthzPatience);
  client.set_read_timeout(kHealthzPatience);
  const auto response = client.Get("/healthz");
  if (!response) return tl::unexpected(address + " does not answer (HTTP)");
  if (response->status != 200) {
    return tl::unexpected(address + " answers " + std::to_string(response->status) + " (HTTP)");
  }
  return {};
}

HttpServer::HttpServer(HttpPages pages)
    : pages_(std::move(pages)), server_(std::make_unique<httplib::Server>()) {
  server_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // Without SO_REUSEPORT, which is the library's default: a port that is taken is an error.
  server_->set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server_->Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", kText);
  });
  server_->Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
    const bool ready = pages_.ready();
    response.status = ready ? 200 : 503;
    response.set_content(ready ? "ready\n" : "not ready\n", kText);
  });
  server_->Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(pages_.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

HttpServer::~HttpServer() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

tl::expected<std::unique_ptr<HttpServer>, std::string> HttpServer::Start(const std::string& address,
                                                                         HttpPages pages) {
  const auto parsed = ParseAddress(address);
  if (!parsed) return tl::unexpected(parsed.error());
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(pages)));
  if (!server->server_->bind_to_port(parsed->host, parsed->port)) {
    return tl::unexpected("cannot listen on " + address + " (HTTP): is the port in use?");
  }
  server->thread_ = std::thread([raw = server->server_.get()] { raw->listen_after_bind(); });
  while (!server->server_->is_running()) std::this_thread::yield();  // stop() needs it
  return server;
}

}  // namespace tenure::process
