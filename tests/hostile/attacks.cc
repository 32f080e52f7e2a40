#include "tests/hostile/attacks.h"

#include <fmt/format.h>

#include <iterator>
#include <latch>
#include <thread>

namespace tenure::testing {
namespace {

using http2::Frame;
using http2::Literal;
using http2::Type;

constexpr char kPath[] = "/tenure.v1.ElectionService/Leader";

using Endpoint = std::string (Tenured::*)() const;

// Connections that each send this, and are then held.
Attack Hold(std::string name, Endpoint endpoint, int count, std::string say) {
  return {std::move(name), [=](Tenured& server, std::chrono::milliseconds duration) {
            const auto connections = ConnectMany((server.*endpoint)(), count);
            for (const Descriptor& connection : connections) Send(connection, say);
            std::this_thread::sleep_for(duration);
          }};
}

// Two connections that send `again` without end.
Attack Endless(std::string name, Endpoint endpoint, std::string first, std::string again) {
  return {std::move(name), [=](Tenured& server, std::chrono::milliseconds duration) {
            Flood((server.*endpoint)(), 2, first, again, duration);
          }};
}

std::string Repeat(const std::string& bytes, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += bytes;
  return all;
}

// Calls that send no message.
std::string Calls(uint32_t count) {
  const std::string headers = http2::CallHeaders(kPath);
  std::string calls;
  for (uint32_t stream = 1; stream < 2 * count; stream += 2) {
    calls += Frame(Type::kHeaders, http2::kEndHeaders, stream, headers);
  }
  return calls;
}

// Calls that wait for changes of the server's health.
std::string Watches(uint32_t count) {
  const std::string headers = http2::CallHeaders("/grpc.health.v1.Health/Watch");
  std::string calls;
  for (uint32_t stream = 1; stream < 2 * count; stream += 2) {
    calls += Frame(Type::kHeaders, http2::kEndHeaders, stream, headers) +
             Frame(Type::kData, http2::kEndStream, stream, std::string(5, '\0'));
  }
  return calls;
}

// A header that is remembered, and then many references to it.
std::string CallsThatReferToOneHeader() {
  const std::string name(1, 'x'), value(3'000, 'v');
  const auto length = [](size_t size) {  // of 127 bytes and more (RFC 7541, 5.1)
    return std::string{'\x7f', static_cast<char>(0x80 | (size - 127) % 128),
                       static_cast<char>((size - 127) / 128)};
  };
  const std::string remembered =
      "\x40" + std::string(1, '\x01') + name + length(value.size()) + value;
  std::string calls =
      Frame(Type::kHeaders, http2::kEndHeaders, 1, http2::CallHeaders(kPath, remembered));
  const std::string many = http2::CallHeaders(kPath, std::string(16'000, '\xbe'));
  for (uint32_t stream = 3; stream < 1'400; stream += 2) {
    calls += Frame(Type::kHeaders, http2::kEndHeaders, stream, many);
  }
  return calls;
}

std::string CallsThatMakeGrpcComplain() {
  const std::string headers =
      http2::CallHeaders(kPath, Literal("grpc-timeout", "1x\n" + std::string(kForgedLine) + "\n"));
  std::string calls;
  for (uint32_t stream = 1; stream < 2'000; stream += 2) {
    calls += Frame(Type::kHeaders, http2::kEndHeaders | http2::kEndStream, stream, headers);
  }
  return calls;
}

// Sends renewals until nothing more is taken.
void RenewAndNeverRead(Tenured& server, std::chrono::milliseconds duration) {
  const auto stub = Connect(server.endpoint());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + duration);
  const auto stream = stub->KeepAlive(&context);
  v1::KeepAliveRequest request;
  for (int i = 0; i < 500; ++i) request.add_session_ids(fmt::format("{:032x}", i));
  while (stream->Write(request)) continue;
  (void)stream->Finish();
}

// Leads 320 elections with the largest values. If called again, it finds the same session.
std::string LeadMany(v1::ElectionService::Stub& stub) {
  std::string session;
  for (int set = 0; set < 10; ++set) {
    CampaignArguments arguments{.value = std::string(4'096, 'v'), .lease_ttl = 30s};
    arguments.request_id = "the request of one attacker";
    arguments.candidate = "attacker";
    for (int i = 0; i < 32; ++i) arguments.elections.push_back(fmt::format("many {} {}", set, i));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    v1::CampaignResponse response;
    if (stub.Campaign(&context, ToRequest(arguments), &response).ok()) {
      session = response.session().session_id();
    }
  }
  return session;
}

// Each of many streams asks for megabytes.
void AskForSeatsAndNeverRead(Tenured& server, std::chrono::milliseconds duration) {
  const auto stub = Connect(server.endpoint());
  v1::KeepAliveRequest request;
  request.add_session_ids(LeadMany(*stub));
  using Stream = grpc::ClientReaderWriter<v1::KeepAliveRequest, v1::KeepAliveResponse>;
  std::vector<std::pair<std::unique_ptr<grpc::ClientContext>, std::unique_ptr<Stream>>> streams;
  for (int i = 0; i < 50; ++i) {
    auto context = std::make_unique<grpc::ClientContext>();
    auto stream = stub->KeepAlive(context.get());
    stream->Write(request);
    streams.emplace_back(std::move(context), std::move(stream));
  }
  std::this_thread::sleep_for(duration);
  for (auto& [context, stream] : streams) {
    context->TryCancel();
    (void)stream->Finish();
  }
}

void SelectAPrefixManyTimes(Tenured& server, std::chrono::milliseconds duration) {
  const auto stub = Connect(server.endpoint());
  LeadMany(*stub);
  v1::ObserveRequest request;
  for (int i = 0; i < 11'000; ++i) request.add_selectors()->set_prefix("m");
  const auto end = std::chrono::system_clock::now() + duration;
  while (std::chrono::system_clock::now() < end) {
    grpc::ClientContext context;
    context.set_deadline(end);
    const auto stream = stub->Observe(&context, request);
    v1::ObserveResponse response;
    while (stream->Read(&response) && !response.has_progress()) continue;
    context.TryCancel();
    (void)stream->Finish();
  }
}

void SendGarbage(Tenured& server, std::chrono::milliseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
    for (const auto* method : AllMethods()) {
      if (!method->client_streaming()) (void)SendBytes(server.channel(), *method, "\xff\xff\xff");
    }
  }
}

// Makes all calls at once, and waits for their ends. A failed call has an empty response.
template <typename Response, typename Request, typename Start>
std::vector<Response> CallAll(const std::vector<Request>& requests, Start start) {
  std::vector<Response> responses(requests.size());
  std::vector<grpc::ClientContext> contexts(requests.size());
  std::latch unanswered(static_cast<ptrdiff_t>(requests.size()));
  for (size_t i = 0; i < requests.size(); ++i) {
    contexts[i].set_deadline(std::chrono::system_clock::now() + kPatience);
    start(&contexts[i], &requests[i], &responses[i],
          [&unanswered](const grpc::Status&) { unanswered.count_down(); });
  }
  unanswered.wait();
  return responses;
}

// Sessions that lead in 32 elections each, and are all ended by an operator at once.
void EndManySessions(Tenured& server, std::chrono::milliseconds duration) {
  constexpr int kSessions = 1'000;
  std::vector<v1::CampaignRequest> campaigns;
  for (int i = 0; i < kSessions; ++i) {
    std::vector<std::string> set;
    for (int k = 0; k < 32; ++k) set.push_back(std::to_string(i) + " to end " + std::to_string(k));
    campaigns.push_back(ToRequest({.candidate = "ended", .elections = set}));
  }
  for (const auto end = std::chrono::steady_clock::now() + duration;
       std::chrono::steady_clock::now() < end;) {
    std::vector<v1::EndSessionRequest> ends;
    for (const auto& campaigned : CallAll<v1::CampaignResponse>(
             campaigns, [&](auto... call) { server.stub().async()->Campaign(call...); })) {
      if (!campaigned.has_session()) continue;
      ends.emplace_back().set_handle(campaigned.session().session_id().substr(0, 16));
    }
    CallAll<v1::EndSessionResponse>(
        ends, [&](auto... call) { server.admin().async()->EndSession(call...); });
  }
}

}  // namespace

std::vector<Attack> AttacksOnConnections() {
  return {
      Hold("connections to gRPC that say nothing", &Tenured::endpoint, 1'100, ""),
      Hold("connections to HTTP that say nothing", &Tenured::http_endpoint, 1'100, ""),
      Hold("HTTP clients that are slow", &Tenured::http_endpoint, 200,
           "GET /metrics HTTP/1.1\r\nX: "),
      Endless("HTTP headers without an end", &Tenured::http_endpoint, "GET /metrics HTTP/1.1\r\n",
              "X: " + std::string(60'000, 'x') + "\r\n"),
      Endless("an HTTP body without an end", &Tenured::http_endpoint,
              "POST /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
              "10000\r\n" + std::string(65'536, 'x') + "\r\n"),
  };
}

std::vector<Attack> AttacksOnHttp2() {
  const std::string hello = http2::Greeting();
  return {
      {"calls that are reset at once",
       [](Tenured& server, std::chrono::milliseconds duration) {
         ResetRapidly(server.endpoint(), 2, duration);
       }},
      // The length of a string, each of whose bytes says that more follow.
      Endless("numbers without an end", &Tenured::endpoint,
              hello + Frame(Type::kHeaders, 0, 1, std::string("\0\x7f", 2)),
              Frame(Type::kContinuation, 0, 1, std::string(16'000, '\x80'))),
      Endless(
          "headers without an end", &Tenured::endpoint,
          hello + Frame(Type::kHeaders, 0, 1, http2::CallHeaders(kPath)),
          Frame(Type::kContinuation, 0, 1, Repeat(Literal("x-name", std::string(100, 'v')), 140))),
      {"calls that send nothing, on one connection after the other",
       [](Tenured& server, std::chrono::milliseconds duration) {
         const std::string calls = http2::Greeting() + Calls(1'000);
         const auto end = std::chrono::steady_clock::now() + duration;
         while (std::chrono::steady_clock::now() < end) Send(ConnectTo(server.endpoint()), calls);
       }},
      Hold("calls that send nothing, and stay", &Tenured::endpoint, 4, hello + Calls(20'000)),
      Hold("watches of the health", &Tenured::endpoint, 4, hello + Watches(20'000)),
      Hold("headers that refer to one", &Tenured::endpoint, 2, hello + CallsThatReferToOneHeader()),
      {"large messages without an end",
       [](Tenured& server, std::chrono::milliseconds duration) {
         SendWithoutEnd(server.endpoint(), 4, 130, 4'000'000, duration);
       }},
      {"small messages without an end",
       [](Tenured& server, std::chrono::milliseconds duration) {
         SendWithoutEnd(server.endpoint(), 1, 20'000, 60'000, duration);
       }},
      Endless("pings without an end", &Tenured::endpoint, hello,
              Repeat(Frame(Type::kPing, 0, 0, std::string(8, 'p')), 1'000)),
      Endless("settings without an end", &Tenured::endpoint, hello,
              Repeat(Frame(Type::kSettings, 0, 0, ""), 1'000)),
  };
}

std::vector<Attack> AttacksOnTheLog() {
  return {Endless("calls that make gRPC complain", &Tenured::endpoint, http2::Greeting(),
                  CallsThatMakeGrpcComplain())};
}

std::vector<Attack> AttacksByCallers() {
  return {
      {"answers to renewals that nobody reads", RenewAndNeverRead},
      {"seats that nobody reads", AskForSeatsAndNeverRead},
      {"one prefix selected many times", SelectAPrefixManyTimes},
      {"requests that are no messages", SendGarbage},
      {"sessions that are ended at once", EndManySessions},
  };
}

std::vector<Attack> SurvivedAttacks() {
  std::vector<Attack> all = AttacksOnConnections();
  std::ranges::move(AttacksOnTheLog(), std::back_inserter(all));
  std::ranges::move(AttacksByCallers(), std::back_inserter(all));
  if (grpc::Version().ends_with("(patched)"))
    std::ranges::move(AttacksOnHttp2(), std::back_inserter(all));
  return all;
}

}  // namespace tenure::testing
