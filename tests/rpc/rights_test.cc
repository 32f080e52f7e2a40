// What each verb of the policy allows, and that it allows nothing else: each call of the contract,
// as every identity, against a server that has TLS files, a policy, and otherwise its defaults.
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "tenure/credentials.h"
#include "tests/rpc/service_fixture.h"
#include "tests/support/certificates.h"

namespace tenure::testing {
namespace {

constexpr char kRefused[] = "PERMISSION_DENIED";
constexpr char kNoSession[] = "0123456789abcdef0123456789abcdef";
const std::vector<std::string> kVerbs = {"campaign", "observe", "inspect", "administer"};

// What a rule must cover for a call.
enum class Scope {
  kElection,   // the election that it is about, or all with a prefix
  kSomewhere,  // any: the call is about a session, whose id is a secret
  kAll,        // all elections
};

struct Call {
  std::string name;
  std::string method;  // of one of the services
  std::string verb;    // that it needs; empty: any identity may make it
  std::function<std::string(const std::string& election)> request;
  std::string allowed = "OK";  // how it ends for those who may make it
  Scope scope = Scope::kElection;
  std::string or_verb = "";  // is enough, too
};

// The bytes of a request about an election.
template <typename Request>
std::function<std::string(const std::string&)> About(
    const std::function<void(Request&, const std::string&)>& fill) {
  return [fill](const std::string& election) {
    Request request;
    fill(request, election);
    return request.SerializeAsString();
  };
}
// One whose only field that matters is the election.
template <typename Request>
std::function<std::string(const std::string&)> AboutElection() {
  return About<Request>([](Request& it, const std::string& name) { it.set_election(name); });
}
std::string ToTake(const std::vector<std::string>& elections) {
  return ToRequest(CampaignArguments{.candidate = "c", .elections = elections}).SerializeAsString();
}

// Requests change nothing that another one of the table relies on: they name sessions that do not
// exist, and terms that are not the current ones.
const std::vector<Call>& AllCalls() {
  static const std::vector<Call> calls = {
      {"Campaign", "Campaign", "campaign",
       [](const std::string& name) {
         return ToRequest(CampaignArguments{.election = name, .candidate = "c"})
             .SerializeAsString();
       }},
      {"Campaign, the first of a set", "Campaign", "campaign",
       [](const std::string& name) {
         return ToTake({name, "own/second"});
       }},
      {"Campaign, the second of a set", "Campaign", "campaign",
       [](const std::string& name) {
         return ToTake({"own/first", name});
       }},
      {"KeepAlive", "KeepAlive", "campaign",
       About<v1::KeepAliveRequest>([](auto& it, const auto&) { it.add_session_ids(kNoSession); }),
       "OK", Scope::kSomewhere},
      {"Proclaim", "Proclaim", "campaign",
       About<v1::ProclaimRequest>([](auto& it, const auto& name) {
         it.set_election(name);
         it.set_session_id(kNoSession);
         it.set_term(1);
       }),
       "SESSION_NOT_FOUND"},
      {"Resign of an election", "Resign", "campaign",
       About<v1::ResignRequest>([](auto& it, const auto& name) {
         it.set_election(name);
         it.set_session_id(kNoSession);
       }),
       "SESSION_NOT_FOUND"},
      {"Resign of a session", "Resign", "campaign",
       About<v1::ResignRequest>([](auto& it, const auto&) { it.set_session_id(kNoSession); }),
       "SESSION_NOT_FOUND", Scope::kSomewhere},

      {"Leader", "Leader", "observe", AboutElection<v1::LeaderRequest>()},
      {"Observe by name", "Observe", "observe",
       About<v1::ObserveRequest>(
           [](auto& it, const auto& name) { it.add_selectors()->set_election(name); })},
      {"Observe by prefix", "Observe", "observe",
       About<v1::ObserveRequest>(
           [](auto& it, const auto& name) { it.add_selectors()->set_prefix(name); })},
      {"Observe by name, the second selector", "Observe", "observe",
       About<v1::ObserveRequest>([](auto& it, const auto& name) {
         it.add_selectors()->set_election("own/first");
         it.add_selectors()->set_election(name);
       })},
      {"Observe by prefix, the second selector", "Observe", "observe",
       About<v1::ObserveRequest>([](auto& it, const auto& name) {
         it.add_selectors()->set_prefix("own/first");
         it.add_selectors()->set_prefix(name);
       })},
      {"Observe by name, beside a prefix", "Observe", "observe",
       About<v1::ObserveRequest>([](auto& it, const auto& name) {
         it.add_selectors()->set_prefix("own/first");
         it.add_selectors()->set_election(name);
       })},
      {"Observe by prefix, beside a name", "Observe", "observe",
       About<v1::ObserveRequest>([](auto& it, const auto& name) {
         it.add_selectors()->set_election("own/first");
         it.add_selectors()->set_prefix(name);
       })},
      {"Observe of everything", "Observe", "observe",
       About<v1::ObserveRequest>([](auto& it, const auto&) { it.add_selectors()->set_prefix(""); }),
       "OK", Scope::kAll},

      {"Identify", "Identify", "", About<v1::IdentifyRequest>([](auto&, const auto&) {}), "OK",
       Scope::kSomewhere},

      {"Status", "Status", "inspect", About<v1::StatusRequest>([](auto&, const auto&) {}), "OK",
       Scope::kSomewhere},
      {"ListElections", "ListElections", "inspect",
       About<v1::ListElectionsRequest>([](auto& it, const auto& name) { it.set_prefix(name); })},
      {"ListElections, all", "ListElections", "inspect",
       About<v1::ListElectionsRequest>([](auto&, const auto&) {}), "OK", Scope::kAll},
      {"DescribeElection", "DescribeElection", "inspect",
       AboutElection<v1::DescribeElectionRequest>(), "OK", Scope::kElection, "administer"},
      {"ListTerms", "ListTerms", "inspect", AboutElection<v1::ListTermsRequest>()},
      {"ListChanges", "ListChanges", "inspect", AboutElection<v1::ListChangesRequest>()},
      {"ListChanges, all", "ListChanges", "inspect",
       About<v1::ListChangesRequest>([](auto&, const auto&) {}), "OK", Scope::kAll},
      {"ListSessions", "ListSessions", "inspect",
       About<v1::ListSessionsRequest>([](auto&, const auto&) {}), "OK", Scope::kAll},
      {"ListSessions of some candidates", "ListSessions", "inspect",
       About<v1::ListSessionsRequest>(
           [](auto& it, const auto& name) { it.set_candidate_prefix(name); }),
       "OK", Scope::kAll},

      {"Appoint", "Appoint", "administer",
       About<v1::AppointRequest>([](auto& it, const auto& name) {
         it.set_election(name);
         it.set_candidate("d");
         it.set_term(99);
       }),
       "STALE_TERM"},
      {"Depose", "Depose", "administer", About<v1::DeposeRequest>([](auto& it, const auto& name) {
         it.set_election(name);
         it.set_term(99);
       }),
       "STALE_TERM"},
      {"Pause", "Pause", "administer", AboutElection<v1::PauseRequest>()},
      {"Resume", "Resume", "administer", AboutElection<v1::ResumeRequest>()},
      {"UpdateElection", "UpdateElection", "administer",
       About<v1::UpdateElectionRequest>([](auto& it, const auto& name) {
         it.set_election(name);
         it.set_max_candidates(1'000);
       })},
      {"DeleteElection", "DeleteElection", "administer",
       About<v1::DeleteElectionRequest>([](auto& it, const auto& name) {
         it.set_election(name);
         it.set_term(99);
       }),
       "STALE_TERM"},
      {"PurgeElections", "PurgeElections", "administer",
       About<v1::PurgeElectionsRequest>([](auto& it, const auto& name) {
         it.set_prefix(name);
         it.mutable_unused_for()->set_seconds(86'400);
       })},
      {"PurgeElections, all", "PurgeElections", "administer",
       About<v1::PurgeElectionsRequest>(
           [](auto& it, const auto&) { it.mutable_unused_for()->set_seconds(86'400); }),
       "OK", Scope::kAll},
      {"EndSession", "EndSession", "administer",
       About<v1::EndSessionRequest>(
           [](auto& it, const auto&) { it.set_handle(std::string(kNoSession).substr(0, 16)); }),
       "SESSION_NOT_FOUND", Scope::kAll},
  };
  return calls;
}

// The fields that say what a method is about, whatever its other fields hold. None: it is about a
// session, or about all elections.
const std::map<std::string, std::set<std::string>>& FieldsThatCount() {
  static const std::map<std::string, std::set<std::string>> fields = {
      {"Campaign", {"election"}},
      {"KeepAlive", {}},
      {"Proclaim", {"election"}},
      {"Resign", {"election"}},
      {"Leader", {"election"}},
      {"Observe", {"election", "prefix"}},
      {"ListElections", {"prefix"}},
      {"DescribeElection", {"election"}},
      {"ListTerms", {"election"}},
      {"ListChanges", {"election"}},
      {"ListSessions", {}},
      {"Appoint", {"election"}},
      {"Depose", {"election"}},
      {"Pause", {"election"}},
      {"Resume", {"election"}},
      {"UpdateElection", {"election"}},
      {"DeleteElection", {"election"}},
      {"PurgeElections", {"prefix"}},
      {"EndSession", {}},
      {"Identify", {}},
      {"Status", {}},
  };
  return fields;
}

// A request with every text that it has room for: `counts` in the fields that count, and `other` in
// all others. A set of elections stays empty, since the table has it.
std::string WithEveryText(const google::protobuf::MethodDescriptor& method,
                          const std::string& counts, const std::string& other) {
  using google::protobuf::FieldDescriptor;
  const std::set<std::string>& fields = FieldsThatCount().at(method.name());
  const std::function<void(google::protobuf::Message&)> fill = [&](auto& message) {
    const auto* reflection = message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor* field = message.GetDescriptor()->field(i);
      const bool text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      const std::string value = fields.contains(field->name()) ? counts : other;
      if (text && field->is_repeated()) {
        if (field->name() != "elections") reflection->AddString(&message, field, value);
      } else if (text) {
        reflection->SetString(&message, field, value);
      } else if (field->name() == "selectors") {
        fill(*reflection->AddMessage(&message, field));
      }
    }
  };
  auto* factory = google::protobuf::MessageFactory::generated_factory();
  const std::unique_ptr<google::protobuf::Message> request(
      factory->GetPrototype(method.input_type())->New());
  fill(*request);
  return request->SerializeAsString();
}

class RightsTest : public ::testing::Test {
 protected:
  RightsTest() {
    std::string policy = "identities:\n";
    for (const std::string& verb : kVerbs) {
      policy += IdentityOf(verb, {verb}, "");
      policy += IdentityOf("own-" + verb, {verb}, "own/");
      std::vector<std::string> others = kVerbs;
      std::erase(others, verb);
      policy += IdentityOf("all-but-" + verb, others, "");
    }
    policy += IdentityOf("own", kVerbs, "own/");
    std::string named = IdentityOf("named", kVerbs, "own/e");
    policy += named.replace(named.find("prefixes"), std::strlen("prefixes"), "elections");
    policy += IdentityOf("no-requests", kVerbs, "", "    limits: {requests_per_second: 0}\n");
    policy += IdentityOf("few-candidacies", {"campaign", "observe"}, "quota/",
                         "    limits: {candidacies: 3}\n");
    policy += IdentityOf("few-sessions", {"campaign"}, "quota/", "    limits: {sessions: 1}\n");
    policy += IdentityOf("few-calls", {"campaign", "observe"}, "", "    limits: {open_calls: 2}\n");
    Write("policy.yaml", policy);
    const KeyPair pair = authority_.Issue("tenured", "IP:127.0.0.1");
    Write("tls.crt", pair.certificate);
    Write("tls.key", pair.key);
    Write("ca.crt", authority_.certificate());
    server_ = std::make_unique<Tenured>(
        "sqlite::memory:", std::vector<std::string>{
                               "--tls-cert", File("tls.crt"), "--tls-key", File("tls.key"),
                               "--tls-client-ca", File("ca.crt"), "--policy", File("policy.yaml")});
    // Every election that a call may be about has a leader.
    for (const std::string election : {"own/first", "own/second", "own/e", "other/e"}) {
      EXPECT_EQ(Outcome("campaign", {"", "Campaign", "", AllCalls().front().request}, election),
                "OK");
    }
  }

  static std::string IdentityOf(const std::string& name, const std::vector<std::string>& verbs,
                                const std::string& prefix, const std::string& limits = "") {
    std::string all;
    for (const std::string& verb : verbs) all += (all.empty() ? "" : ", ") + verb;
    return "  - name: " + name + "\n    sans: [\"spiffe://rights/" + name +
           "\"]\n    rules: [{verbs: [" + all + "], prefixes: [\"" + prefix + "\"]}]\n" + limits;
  }

  [[nodiscard]] std::string File(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(File(name)) << content;
  }

  [[nodiscard]] std::shared_ptr<grpc::Channel> ChannelWith(
      const std::shared_ptr<grpc::ChannelCredentials>& credentials) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->endpoint(), credentials, arguments);
  }
  // A channel with the certificate of an identity.
  const std::shared_ptr<grpc::Channel>& ChannelOf(const std::string& identity) {
    auto& channel = channels_[identity];
    if (channel == nullptr) {
      const KeyPair pair = authority_.Issue(identity, "URI:spiffe://rights/" + identity);
      channel =
          ChannelWith(grpc::SslCredentials({authority_.certificate(), pair.key, pair.certificate}));
    }
    return channel;
  }

  std::string Outcome(const std::string& identity, const Call& call, const std::string& election) {
    const std::string request = call.request(election);
    if (call.method == "Observe") return OutcomeOfObserve(identity, request);
    for (const auto* method : AllMethods()) {
      if (method->name() != call.method) continue;
      return OutcomeOf(SendBytes(ChannelOf(identity), *method, request));
    }
    return "there is no such method";
  }
  // An Observe that is allowed goes on until it is cancelled.
  std::string OutcomeOfObserve(const std::string& identity, const std::string& bytes) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    context.set_wait_for_ready(true);
    v1::ObserveRequest request;
    EXPECT_TRUE(request.ParseFromString(bytes));
    const auto stub = v1::ElectionService::NewStub(ChannelOf(identity));
    const auto reader = stub->Observe(&context, request);
    v1::ObserveResponse response;
    if (!reader->Read(&response)) return OutcomeOf(reader->Finish());
    context.TryCancel();
    while (reader->Read(&response)) continue;
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
    return "OK";
  }

  // Campaigns as an identity, without a wait.
  std::string Try(const std::string& identity, const CampaignArguments& arguments) {
    const auto stub = v1::ElectionService::NewStub(ChannelOf(identity));
    grpc::ClientContext context;
    v1::CampaignResponse response;
    return OutcomeOf(stub->Campaign(&context, ToRequest(arguments), &response));
  }
  bool HasLeader(const std::string& identity, const std::string& election) {
    const auto stub = v1::ElectionService::NewStub(ChannelOf(identity));
    grpc::ClientContext context;
    v1::LeaderRequest request;
    request.set_election(election);
    v1::LeaderResponse response;
    EXPECT_TRUE(stub->Leader(&context, request, &response).ok());
    return response.has_leader();
  }

  const TempDir folder_;
  const CertificateAuthority authority_{"the authority"};
  std::unique_ptr<Tenured> server_;
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;
};

TEST_F(RightsTest, TheTableHasEveryCallOfTheContract) {
  std::set<std::string> in_table;
  for (const Call& call : AllCalls()) in_table.insert(call.method);
  std::set<std::string> in_contract;
  for (const auto* method : AllMethods()) in_contract.insert(method->name());

  EXPECT_EQ(in_table, in_contract);
}

TEST_F(RightsTest, EachCallNeedsItsVerbAndNoOther) {
  for (const Call& call : AllCalls()) {
    for (const std::string& verb : kVerbs) {
      const bool any = call.verb.empty();
      const bool enough = verb == call.verb || verb == call.or_verb;
      const bool needed = verb == call.verb && call.or_verb.empty();
      EXPECT_EQ(Outcome(verb, call, "own/e"), any || enough ? call.allowed : kRefused)
          << call.name << " with only " << verb;
      EXPECT_EQ(Outcome("all-but-" + verb, call, "own/e"), needed ? kRefused : call.allowed)
          << call.name << " with all but " << verb;
    }
  }
}

TEST_F(RightsTest, EachCallIsConfinedToTheElectionsOfItsRule) {
  for (const Call& call : AllCalls()) {
    if (call.verb.empty()) continue;
    const bool here = call.scope != Scope::kAll;
    const bool elsewhere = call.scope == Scope::kSomewhere;
    EXPECT_EQ(Outcome("own-" + call.verb, call, "own/e"), here ? call.allowed : kRefused)
        << call.name;
    EXPECT_EQ(Outcome("own-" + call.verb, call, "other/e"), elsewhere ? call.allowed : kRefused)
        << call.name;
  }
}

// A text that happens to be the name of an election permits nothing, and refuses nothing.
TEST_F(RightsTest, NoOtherFieldOfARequestCounts) {
  const std::set<std::string> anywhere_is_enough = {"KeepAlive", "Identify", "Status"};
  for (const auto* method : AllMethods()) {
    const auto outcome = [&](const std::string& counts, const std::string& other) {
      const std::string bytes = WithEveryText(*method, counts, other);
      return Outcome("own", {"", method->name(), "", [&](const auto&) { return bytes; }}, "");
    };
    const bool somewhere = anywhere_is_enough.contains(method->name());
    const bool about_all = FieldsThatCount().at(method->name()).empty() && !somewhere;
    if (!about_all) {
      EXPECT_NE(outcome("own/e", "other/e"), kRefused) << method->name();
    }
    if (!somewhere) {
      EXPECT_EQ(outcome("other/e", "own/e"), kRefused) << method->name();
    }
  }
}

TEST_F(RightsTest, NamesAreComparedExactly) {
  for (const Call& call : AllCalls()) {
    if (call.scope != Scope::kElection) continue;
    for (const std::string election : {"Own/e", "OWN/E", "own", " own/e", "\u00f6wn/e"}) {
      EXPECT_EQ(Outcome("own-" + call.verb, call, election), kRefused) << call.name << election;
    }
  }
}

TEST_F(RightsTest, ARuleForAnElectionDoesNotCoverItsNameAsAPrefix) {
  for (const Call& call : AllCalls()) {
    const bool by_prefix = call.name == "Observe by prefix" || call.name == "ListElections" ||
                           call.name == "PurgeElections";
    if (!by_prefix && call.name != "Leader") continue;
    EXPECT_EQ(Outcome("named", call, "own/e"), by_prefix ? kRefused : call.allowed) << call.name;
  }
}

// These keep or release what the caller has, or tell it only which service this is.
TEST_F(RightsTest, OnlyKeepAliveResignAndIdentifyAreNotLimitedInRate) {
  const std::set<std::string> unlimited = {"KeepAlive", "Resign", "Identify"};
  for (const Call& call : AllCalls()) {
    EXPECT_EQ(Outcome("no-requests", call, "own/e"),
              unlimited.contains(call.method) ? call.allowed : "LIMIT_REACHED")
        << call.name;
  }
}

TEST_F(RightsTest, OpenCallsAreLimitedForAnIdentityAndTheirPlacesComeBack) {
  const auto stub = v1::ElectionService::NewStub(ChannelOf("few-calls"));
  const auto open = [&] {
    auto context = std::make_unique<grpc::ClientContext>();
    auto stream = stub->KeepAlive(context.get());
    v1::KeepAliveRequest request;
    request.add_session_ids(std::string(32, '0'));
    v1::KeepAliveResponse response;
    const bool answered = stream->Write(request) && stream->Read(&response);
    const std::string outcome = answered ? "OK" : OutcomeOf(stream->Finish());
    return std::tuple(outcome, std::move(context), std::move(stream));
  };
  auto [first, first_context, first_stream] = open();
  auto [second, second_context, second_stream] = open();
  EXPECT_EQ(first, "OK");
  EXPECT_EQ(second, "OK");

  EXPECT_EQ(std::get<std::string>(open()), "LIMIT_REACHED");
  for (const Call& call : AllCalls()) {
    const std::set<std::string> lasting = {"Campaign", "KeepAlive", "Observe"};
    if (!lasting.contains(call.method)) continue;
    EXPECT_EQ(Outcome("few-calls", call, "own/e"), "LIMIT_REACHED") << call.name;
  }

  EXPECT_TRUE(first_stream->WritesDone());
  EXPECT_TRUE(first_stream->Finish().ok());
  EXPECT_TRUE(Eventually([&] {
    auto [outcome, context, stream] = open();
    context->TryCancel();
    if (outcome == "OK") (void)stream->Finish();
    return outcome == "OK";
  }));
  second_context->TryCancel();
  (void)second_stream->Finish();
}

// So is one of an authority that the server does not know: see AccessTest.
TEST_F(RightsTest, AClientWithoutACertificateIsRefusedInTheHandshake) {
  const auto stub =
      v1::ElectionService::NewStub(ChannelWith(TlsCredentials({.ca = File("ca.crt")})));
  grpc::ClientContext context;
  v1::LeaderRequest request;
  request.set_election("own/e");
  v1::LeaderResponse response;

  EXPECT_EQ(OutcomeOf(stub->Leader(&context, request, &response)), "UNREACHABLE");
}

TEST_F(RightsTest, SetsCountAgainstTheLimitOfCandidacies) {
  const std::string identity = "few-candidacies";
  const auto set = [](const std::string& a, const std::string& b) {
    return CampaignArguments{.candidate = "c", .elections = {a, b}};
  };

  EXPECT_EQ(Try(identity, set("quota/1", "quota/2")), "OK");
  EXPECT_EQ(Try(identity, set("quota/3", "quota/4")), "LIMIT_REACHED");
  EXPECT_FALSE(HasLeader(identity, "quota/3"));
  EXPECT_FALSE(HasLeader(identity, "quota/4"));
  EXPECT_EQ(Try(identity, {.election = "quota/3", .candidate = "c"}), "OK");
  EXPECT_EQ(Try(identity, {.election = "quota/4", .candidate = "c"}), "LIMIT_REACHED");
  EXPECT_EQ(Try(identity, set("quota/4", "quota/5")), "LIMIT_REACHED");
}

TEST_F(RightsTest, SetsCountAgainstTheLimitOfSessions) {
  const std::string identity = "few-sessions";

  EXPECT_EQ(Try(identity, {.candidate = "c", .elections = {"quota/1", "quota/2"}}), "OK");
  EXPECT_EQ(Try(identity, {.candidate = "c", .elections = {"quota/3", "quota/4"}}),
            "LIMIT_REACHED");
}

}  // namespace
}  // namespace tenure::testing
