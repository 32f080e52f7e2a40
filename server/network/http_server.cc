#include "server/network/http_server.h"

#include <httplib.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <optional>
#include <utility>

#include "server/network/listening.h"

namespace tenure::network {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr size_t kExchangesMax = 64;
constexpr auto kExchangePatience = 10s;     // from connecting to the last byte of the answer
constexpr size_t kRequestBytesMax = 8'192;  // request line and headers; bodies are not read
constexpr size_t kDiscardedMax = 65'536;    // of further input
constexpr auto kHealthzPatience = 2s;
constexpr std::string_view kEndOfHeaders = "\r\n\r\n";
constexpr std::string_view kAllow = "Allow: GET, HEAD, OPTIONS\r\n";
constexpr std::string_view kMethods[] = {"GET",   "HEAD",    "POST",    "PUT",  "DELETE",
                                         "PATCH", "CONNECT", "OPTIONS", "TRACE"};
constexpr char kText[] = "text/plain; charset=utf-8";

std::string Page(std::string_view status, std::string_view type, std::string_view body,
                 std::string_view header = "") {
  std::string answer = "HTTP/1.1 ";
  answer.append(status).append("\r\nContent-Type: ").append(type);
  answer.append("\r\nContent-Length: ").append(std::to_string(body.size()));
  answer.append("\r\nConnection: close\r\n").append(header).append("\r\n").append(body);
  return answer;
}

std::string Refuse(std::string_view status, std::string_view header = "") {
  return Page(status, kText, std::string(status) + "\n", header);
}

// The answer to OPTIONS.
std::string Allowed() {
  return "HTTP/1.1 204 No Content\r\nConnection: close\r\n" + std::string(kAllow) + "\r\n";
}

// The answer to HEAD: the same, without its body.
std::string HeadOf(std::string answer) {
  answer.resize(answer.find(kEndOfHeaders) + kEndOfHeaders.size());
  return answer;
}

// Why the version at the end of a request line is refused; nothing if it is served.
std::optional<std::string_view> RefusalOf(std::string_view version) {
  const bool http = version.size() == 8 && version.starts_with("HTTP/") && version[6] == '.' &&
                    std::isdigit(version[5]) != 0 && std::isdigit(version[7]) != 0;
  if (!http) return "400 Bad Request";
  if (version[5] != '1') return "505 HTTP Version Not Supported";
  return std::nullopt;
}

// The path of a target: of "/path?query", of "http://host/path?query", or "*".
std::string_view PathOf(std::string_view target) {
  target = target.substr(0, target.find('?'));
  for (const std::string_view scheme : {"http://", "https://"}) {
    const bool absolute = std::ranges::equal(target.substr(0, scheme.size()), scheme,
                                             [](char a, char b) { return std::tolower(a) == b; });
    if (!absolute) continue;
    target.remove_prefix(scheme.size());
    const size_t path = target.find('/');
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return target;
}

std::shared_ptr<const std::string> Share(std::string answer) {
  return std::make_shared<const std::string>(std::move(answer));
}

// The next word of a request's line.
std::string_view TakeWord(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
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

HttpServer::HttpServer(std::vector<Descriptor> listeners, HttpPages pages,
                       std::function<Clock::time_point()> now)
    : listeners_(std::move(listeners)),
      pages_(std::move(pages)),
      now_(std::move(now)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  // The kernel holds back connections that send nothing.
  for (const Descriptor& listener : listeners_) {
    const int seconds = std::chrono::duration_cast<std::chrono::seconds>(kExchangePatience).count();
    setsockopt(listener.number(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
  }
  thread_ = std::thread([this] { Run(); });
}

HttpServer::~HttpServer() {
  eventfd_write(stop_.number(), 1);
  thread_.join();
}

void HttpServer::Run() {
  std::vector<pollfd> polled;
  while (true) {
    polled.clear();
    polled.push_back({stop_.number(), POLLIN, 0});
    for (const Descriptor& listener : listeners_) polled.push_back({listener.number(), POLLIN, 0});
    for (const Exchange& exchange : exchanges_) {
      const bool sends = exchange.answer != nullptr && !exchange.answered;
      const short wanted = sends ? POLLOUT : POLLIN;
      polled.push_back({exchange.connection.number(), wanted, 0});
    }
    // The oldest has the earliest deadline.
    int patience = -1;
    if (!exchanges_.empty()) {
      const auto left = std::max(exchanges_.front().deadline - Steady::now(), Steady::duration(0));
      patience = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
    poll(polled.data(), polled.size(), patience);
    if (polled.front().revents != 0) return;

    auto result = polled.cbegin() + 1 + static_cast<std::ptrdiff_t>(listeners_.size());
    const Steady::time_point now = Steady::now();
    std::erase_if(exchanges_, [&](Exchange& exchange) {
      const bool ready = (result++)->revents != 0;
      return exchange.deadline <= now || (ready && !GoOn(exchange));
    });
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[1 + i].revents != 0) AcceptAll(listeners_[i]);
    }
    AnswerWithMetrics();
  }
}

void HttpServer::AcceptAll(const Descriptor& listener) {
  // At most kExchangesMax, so that each gets another turn before it has to make room.
  for (size_t i = 0; i < kExchangesMax; ++i) {
    auto accepted = Accept(listener);
    if (!accepted) {
      if (accepted.error() == AcceptFailure::kNobody || exchanges_.empty()) return;
      exchanges_.pop_front();
      continue;
    }
    if (exchanges_.size() >= kExchangesMax) exchanges_.pop_front();
    exchanges_.push_back({std::move(accepted->connection), Steady::now() + kExchangePatience});
    // The request has most likely arrived already: then it can be answered, and need not make room.
    if (!GoOn(exchanges_.back())) exchanges_.pop_back();
  }
}

bool HttpServer::GoOn(Exchange& exchange) const {
  if (exchange.answered) return Drain(exchange);
  if (exchange.answer == nullptr && !Receive(exchange)) return false;
  return exchange.answer == nullptr || Send(exchange);
}

bool HttpServer::Receive(Exchange& exchange) const {
  char buffer[kRequestBytesMax];
  const ssize_t size = recv(exchange.connection.number(), buffer, sizeof buffer, 0);
  if (size <= 0) return size < 0 && errno == EAGAIN;
  exchange.request.append(buffer, static_cast<size_t>(size));
  const size_t end = exchange.request.find(kEndOfHeaders);
  const bool too_large = std::min(end, exchange.request.size()) > kRequestBytesMax;
  if (too_large || end != std::string::npos) AnswerTo(exchange, too_large);
  return true;
}

bool HttpServer::Send(Exchange& exchange) {
  const std::string_view left = std::string_view(*exchange.answer).substr(exchange.sent);
  const ssize_t size = send(exchange.connection.number(), left.data(), left.size(), MSG_NOSIGNAL);
  if (size < 0) return errno == EAGAIN;
  exchange.sent += static_cast<size_t>(size);
  if (exchange.sent < exchange.answer->size()) return true;
  exchange.answered = true;
  return shutdown(exchange.connection.number(), SHUT_WR) == 0;
}

bool HttpServer::Drain(Exchange& exchange) {
  char buffer[kRequestBytesMax];
  const ssize_t size = recv(exchange.connection.number(), buffer, sizeof buffer, 0);
  if (size <= 0) return size < 0 && errno == EAGAIN;
  exchange.discarded += static_cast<size_t>(size);
  return exchange.discarded <= kDiscardedMax;
}

void HttpServer::AnswerTo(Exchange& exchange, bool too_large) const {
  std::string_view line = exchange.request;
  line = line.substr(0, line.find("\r\n"));
  const std::string_view method = TakeWord(line);
  const std::string_view path = PathOf(TakeWord(line));
  exchange.head = method == "HEAD";
  if (too_large) {
    Answer(exchange, Refuse("431 Request Header Fields Too Large"));
  } else if (const auto refusal = RefusalOf(line)) {
    Answer(exchange, Refuse(*refusal));
  } else if (std::ranges::find(kMethods, method) == std::end(kMethods)) {
    Answer(exchange, Refuse("501 Not Implemented"));
  } else if (path == "/metrics" && (method == "GET" || exchange.head)) {
    exchange.wants_metrics = true;
  } else {
    Answer(exchange, AnswerAt(path, method));
  }
}

void HttpServer::Answer(Exchange& exchange, const std::string& answer) const {
  const std::string dated = Dated(answer);
  exchange.answer = Share(exchange.head ? HeadOf(dated) : dated);
}

std::string HttpServer::Dated(std::string answer) const {
  const std::time_t seconds = Clock::to_time_t(now_());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  const size_t size = strftime(text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
  return answer.insert(answer.find("\r\n") + 2, text, size);
}

std::string HttpServer::AnswerAt(std::string_view path, std::string_view method) const {
  const bool pages = path == "/metrics" || path == "/healthz" || path == "/readyz";
  if (method == "OPTIONS" && (pages || path == "*")) return Allowed();
  if (!path.starts_with('/')) return Refuse("400 Bad Request");
  if (!pages) return Refuse("404 Not Found");
  if (method != "GET" && method != "HEAD") return Refuse("405 Method Not Allowed", kAllow);
  if (path == "/healthz") {
    if (pages_.healthy()) return Page("200 OK", kText, "ok\n");
    return Page("503 Service Unavailable", kText, "gRPC does not answer\n");
  }
  if (pages_.ready()) return Page("200 OK", kText, "ready\n");
  return Page("503 Service Unavailable", kText, "not ready\n");
}

void HttpServer::AnswerWithMetrics() {
  if (std::ranges::none_of(exchanges_, &Exchange::wants_metrics)) return;
  const auto page =
      Share(Dated(Page("200 OK", "text/plain; version=0.0.4; charset=utf-8", pages_.metrics())));
  const auto head = Share(HeadOf(*page));
  std::erase_if(exchanges_, [&](Exchange& exchange) {
    if (!std::exchange(exchange.wants_metrics, false)) return false;
    exchange.answer = exchange.head ? head : page;
    return !Send(exchange);
  });
}

}  // namespace tenure::network
