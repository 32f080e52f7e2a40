// Requests to the small HTTP server, over a socket, against a model of what it answers. A `|` in
// the input is where a client pauses.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <regex>
#include <string>
#include <string_view>

#include "server/network/http_server.h"
#include "server/network/network_testing.h"
#include "tests/fuzz/require.h"

namespace tenure::network {
namespace {

constexpr size_t kRequestBytesMax = 8'192;

// The answer to expect: the status, and the body.
struct Page {
  std::string status;
  std::string body;
};

Page Refusal(const std::string& status) { return {status, status + "\n"}; }

Page PageAt(std::string_view path) {
  if (path == "/metrics") return {"200 OK", "tenure_up 1\n"};
  if (path == "/healthz") return {"200 OK", "ok\n"};
  if (path == "/readyz") return {"503 Service Unavailable", "not ready\n"};
  return Refusal("404 Not Found");
}

const std::regex kVersion("HTTP/[0-9]\\.[0-9]");
const std::regex kMethod("GET|HEAD|POST|PUT|DELETE|PATCH|CONNECT|OPTIONS|TRACE");
const std::regex kScheme("^https?://", std::regex::icase);

// For the request's line: a method, a path with or without a query, HTTP/1.x.
Page PageFor(std::string_view line) {
  const std::string method(TakeUntil(line, ' '));
  std::string_view target = TakeUntil(line, ' ');
  const std::string version(line);
  if (!std::regex_match(version, kVersion)) return Refusal("400 Bad Request");
  if (version[5] != '1') return Refusal("505 HTTP Version Not Supported");
  if (!std::regex_match(method, kMethod)) return Refusal("501 Not Implemented");
  std::string path(TakeUntil(target, '?'));
  std::smatch scheme;
  if (std::regex_search(path, scheme, kScheme, std::regex_constants::match_continuous))
    path = path.substr(std::min(path.find('/', scheme.length()), path.size()));
  if (path.empty() && scheme.ready() && !scheme.empty()) path = "/";
  if (method == "OPTIONS" && path == "*") return {"204 No Content", ""};
  if (!path.starts_with('/')) return Refusal("400 Bad Request");
  const Page page = PageAt(path);
  if (method == "GET" || method == "HEAD" || page.status == "404 Not Found") return page;
  if (method == "OPTIONS") return {"204 No Content", ""};
  return Refusal("405 Method Not Allowed");
}

void CheckAnswer(const std::string& answer, const Page& page, bool head) {
  Require(answer.starts_with("HTTP/1.1 " + page.status + "\r\n"), "the status is right");
  const size_t body = answer.find("\r\n\r\n");
  const std::string expected = head ? "" : page.body;
  Require(body != std::string::npos && answer.substr(body + 4) == expected, "the page is right");
  const std::string length = "\r\nContent-Length: " + std::to_string(page.body.size()) + "\r\n";
  Require(page.status == "204 No Content" || answer.find(length) < body, "its length is right");
  Require(answer.find("\r\nDate: ") < body, "it is dated");
  Require(answer.find("\r\nConnection: close\r\n") < body, "it is the only one");
}

void TryRequest(int port, std::string_view input) {
  const Descriptor client = ConnectToPort(port);
  Require(client.valid(), "it accepts");
  std::string request;
  while (!input.empty()) {
    const std::string part(TakeUntil(input, '|'));
    SendAll(client, part);
    request += part;
  }
  shutdown(client.number(), SHUT_WR);
  const std::string answer = ReadToEnd(client);

  const size_t end = request.find("\r\n\r\n");
  const size_t headers = std::min(end, request.size());
  if (headers + 4 > kRequestBytesMax && headers <= kRequestBytesMax)
    return;  // it depends on the pauses
  std::string_view line = request;
  line = line.substr(0, line.find("\r\n"));
  const bool head = line.substr(0, line.find(' ')) == "HEAD";
  if (headers > kRequestBytesMax)
    return CheckAnswer(answer, Refusal("431 Request Header Fields Too Large"), head);
  if (end == std::string::npos) return Require(answer.empty(), "half a request has no answer");
  CheckAnswer(answer, PageFor(line), head);
}

struct Serving {
  std::vector<Descriptor> listeners = Listen("127.0.0.1:0", "HTTP").value();
  int port = PortOf(listeners.front());
  HttpServer server{
      std::move(listeners),
      {[] { return std::string("tenure_up 1\n"); }, [] { return true; }, [] { return false; }}};
};

}  // namespace
}  // namespace tenure::network

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tenure::network::Serving serving;
  tenure::network::TryRequest(serving.port, {reinterpret_cast<const char*>(data), size});
  return 0;
}
