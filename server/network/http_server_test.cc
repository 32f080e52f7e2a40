#include "server/network/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "server/network/network_testing.h"

namespace tenure::network {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Whether all threads of this process but this one wait for something.
bool OtherThreadsSleep() {
  return std::ranges::all_of(
      std::filesystem::directory_iterator("/proc/self/task"), [](const auto& task) {
        if (task.path().filename() == std::to_string(gettid())) return true;
        std::ifstream file(task.path() / "stat");
        std::string stat;
        std::getline(file, stat);
        const size_t name_ends = stat.rfind(')');
        return name_ends != std::string::npos && stat.substr(name_ends + 2, 1) == "S";
      });
}

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    auto listeners = Listen("127.0.0.1:0", "test");
    port_ = PortOf(listeners->front());
    server_ = std::make_unique<HttpServer>(
        *std::move(listeners),
        HttpPages{[this] { return Metrics(); }, [this] { return healthy_.load(); },
                  [] { return false; }},
        [] { return std::chrono::sys_days(std::chrono::January / 5 / 2026) + 8h + 9min + 7s; });
  }
  std::string Ask(const std::string& request) const {
    const Descriptor client = ConnectToPort(port_);
    SendAll(client, request);
    return ReadToEnd(client);
  }

  std::string Metrics() {
    ++expositions_;
    const std::lock_guard lock(exposing_);
    return metrics_;
  }

  std::atomic<int> expositions_ = 0;
  std::mutex exposing_;
  std::string metrics_ = "metric 1\n";
  std::atomic<bool> healthy_ = true;
  int port_ = 0;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, PagesHaveAStatusATypeAndALength) {
  EXPECT_EQ(Ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nDate: Mon, 05 Jan 2026 08:09:07 GMT\r\n"
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: "
            "9\r\nConnection: close\r\n\r\nmetric 1\n");
  EXPECT_THAT(Ask("GET /healthz HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(Ask("GET /readyz?verbose HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 503 "), EndsWith("\r\n\r\nnot ready\n")));
}

TEST_F(HttpServerTest, AProcessThatDoesNotServeIsNotHealthy) {
  healthy_ = false;

  EXPECT_THAT(Ask("GET /healthz HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
}

// As wget --spider and HAProxy ask.
TEST_F(HttpServerTest, HeadIsGetWithoutTheBody) {
  for (const std::string path :
       {"/metrics", "/healthz", "/readyz", "/readyz?verbose", "/nowhere", "/"}) {
    const std::string page = Ask("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string head = page.substr(0, page.find("\r\n\r\n") + 4);

    EXPECT_EQ(Ask("HEAD " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"), head);
    EXPECT_EQ(Ask("HEAD " + path + " HTTP/1.0\r\n\r\n"), head);
  }
}

TEST_F(HttpServerTest, ARefusedHeadHasNoBody) {
  const std::string long_header = "X: " + std::string(9'000, 'x');
  for (const auto& [rest, status] : std::vector<std::pair<std::string, std::string>>{
           {" /healthz HTTP/2.0\r\n\r\n", "505 "},
           {" /healthz HTTP/1\r\n\r\n", "400 "},
           {" healthz HTTP/1.1\r\n\r\n", "400 "},
           {" /nowhere HTTP/1.1\r\n\r\n", "404 "},
           {" /healthz HTTP/1.1\r\n" + long_header, "431 "},
           {" /healthz HTTP/1.1\r\n" + long_header + "\r\n\r\n", "431 "}}) {
    const std::string page = Ask("GET" + rest);
    const std::string head = page.substr(0, page.find("\r\n\r\n") + 4);

    EXPECT_THAT(head, AllOf(StartsWith("HTTP/1.1 " + status), HasSubstr("\r\nDate: Mon, ")));
    EXPECT_EQ(Ask("HEAD" + rest), head);
  }
}

TEST_F(HttpServerTest, AHeadAndAGetOfTheMetricsShareAnExposition) {
  Descriptor head, get;
  {
    const std::lock_guard lock(exposing_);
    const Descriptor first = ConnectToPort(port_);
    SendAll(first, "GET /metrics HTTP/1.1\r\n\r\n");
    while (expositions_ == 0) std::this_thread::yield();
    head = ConnectToPort(port_);
    SendAll(head, "HEAD /metrics HTTP/1.1\r\n\r\n");
    get = ConnectToPort(port_);
    SendAll(get, "GET /metrics HTTP/1.1\r\n\r\n");
  }

  EXPECT_THAT(ReadToEnd(get), EndsWith(metrics_));
  EXPECT_THAT(ReadToEnd(head), EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, OtherMethodsAreNotAllowed) {
  const auto refused = AllOf(StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"),
                             HasSubstr("\r\nAllow: GET, HEAD, OPTIONS\r\n"));
  for (const std::string path : {"/metrics", "/healthz", "/readyz", "/readyz?x=y"}) {
    for (const std::string method : {"POST", "PUT", "DELETE", "PATCH", "TRACE"}) {
      EXPECT_THAT(Ask(method + " " + path + " HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"), refused)
          << method << path;
    }
  }
}

TEST_F(HttpServerTest, AMissingPageIsNotFoundByAnyMethod) {
  for (const std::string method : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"}) {
    for (const std::string path : {"/nowhere", "/", "/healthz/", "//healthz", "/Healthz", "/?x"}) {
      EXPECT_THAT(Ask(method + " " + path + " HTTP/1.1\r\n\r\n"),
                  StartsWith("HTTP/1.1 404 Not Found\r\n"))
          << method << path;
    }
  }
}

TEST_F(HttpServerTest, OptionsSaysWhatIsAllowed) {
  for (const std::string target : {"/metrics", "/healthz", "/readyz", "/readyz?x", "*"}) {
    EXPECT_EQ(
        Ask("OPTIONS " + target + " HTTP/1.1\r\n\r\n"),
        "HTTP/1.1 204 No Content\r\nDate: Mon, 05 Jan 2026 08:09:07 GMT\r\nConnection: close\r\n"
        "Allow: GET, HEAD, OPTIONS\r\n\r\n")
        << target;
  }
}

TEST_F(HttpServerTest, MethodsAreComparedExactly) {
  for (const std::string method : {"get", "Head", "FETCH", "PROPFIND"}) {
    EXPECT_THAT(Ask(method + " /healthz HTTP/1.1\r\n\r\n"),
                StartsWith("HTTP/1.1 501 Not Implemented\r\n"))
        << method;
  }
}

// Clients send these to proxies, but servers must accept them, too.
TEST_F(HttpServerTest, ATargetMayBeAbsolute) {
  for (const std::string target :
       {"http://host:7071/healthz", "HTTP://host/healthz?x", "https://[::1]:7071/healthz"}) {
    EXPECT_THAT(Ask("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"),
                StartsWith("HTTP/1.1 200 OK\r\n"))
        << target;
  }
  EXPECT_THAT(Ask("GET http://host HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("GET http://host?x=/healthz HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpServerTest, AnAnswerSaysThatTheConnectionClosesEvenIfAskedToKeepItAlive) {
  for (const std::string request :
       {"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    const std::string answer = Ask(request);

    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nok\n"),
                              HasSubstr("\r\nConnection: close\r\n")));
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << "there is one answer";
  }
}

TEST_F(HttpServerTest, AMalformedRequestIsRefused) {
  EXPECT_THAT(Ask("PRI * HTTP/2.0\r\n\r\n"), StartsWith("HTTP/1.1 505 "));
  for (const std::string line :
       {"GET", "GET /healthz", "GET  /healthz HTTP/1.1", "GET /healthz HTTP/1.1 ",
        "GET /healthz HTTP/1", "GET /healthz http/1.1", "GET * HTTP/1.1", "GET healthz HTTP/1.1",
        "CONNECT host:7071 HTTP/1.1", "GET ftp://host/healthz HTTP/1.1", ""}) {
    EXPECT_THAT(Ask(line + "\r\n\r\n"), StartsWith("HTTP/1.1 400 ")) << line;
  }
}

TEST_F(HttpServerTest, HeadersAreBounded) {
  EXPECT_THAT(Ask("GET /healthz HTTP/1.1\r\nX: " + std::string(9'000, 'x')),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, ABigPageArrivesWhole) {
  metrics_ = std::string(20'000'000, 'm');

  EXPECT_THAT(Ask("GET /metrics HTTP/1.1\r\n\r\n").size(), ::testing::Gt(metrics_.size()));
}

TEST_F(HttpServerTest, RequestsForMetricsShareAnExposition) {
  std::vector<Descriptor> clients;
  {
    const std::lock_guard lock(exposing_);
    for (int i = 0; i < 20; ++i) {
      clients.push_back(ConnectToPort(port_));
      SendAll(clients.back(), "GET /metrics HTTP/1.1\r\n\r\n");
      while (expositions_ == 0) std::this_thread::yield();
    }
  }

  for (const Descriptor& client : clients) EXPECT_THAT(ReadToEnd(client), EndsWith(metrics_));
  EXPECT_EQ(expositions_, 2);
}

// A server that spins never sleeps.
TEST_F(HttpServerTest, AClientThatStaysAfterItsAnswerCostsNothing) {
  const Descriptor client = ConnectToPort(port_);
  SendAll(client, "GET /healthz HTTP/1.1\r\n\r\n");
  ASSERT_THAT(ReadToEnd(client), EndsWith("ok\n"));

  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!OtherThreadsSleep()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "the server does not only wait";
  }
}

// Clients that send half a request, and then nothing.
TEST_F(HttpServerTest, SlowClientsMakeRoomForOthers) {
  std::vector<Descriptor> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(ConnectToPort(port_));
    SendAll(slow.back(), "GET /healthz HTTP/1.1\r\n");
  }

  EXPECT_THAT(Ask("GET /healthz HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

}  // namespace
}  // namespace tenure::network
