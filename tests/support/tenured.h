// A running `tenured` of this build, and a client for tests.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "tenure/v1/admin.grpc.pb.h"
#include "tenure/v1/election.grpc.pb.h"
#include "tests/support/process.h"

namespace tenure::testing {

// The path of a program that is tested, "tenured" or "tenure": of this build unless CMake was set
// otherwise.
[[nodiscard]] std::string Program(const std::string& name);

// A client of one server, on a connection of its own.
[[nodiscard]] std::unique_ptr<v1::ElectionService::Stub> Connect(
    const std::string& endpoint, const std::shared_ptr<grpc::ChannelCredentials>& credentials =
                                     grpc::InsecureChannelCredentials());

class Tenured {
 public:
  // Starts, and waits until it is ready unless told otherwise.
  explicit Tenured(std::string store_url, std::vector<std::string> flags = {},
                   bool wait_until_ready = true, Host host = {},
                   std::string program = Program("tenured"));

  // From the next start on, it is this program.
  void Replace(std::string program) { program_ = std::move(program); }
  // The same, and it runs there, on the same ports.
  void MoveTo(Host host) { host_ = std::move(host); }

  void Kill();      // kill -9
  int Terminate();  // SIGTERM; the exit code
  void Start();     // on the same ports, and waits until it is ready
  void StartWithoutWaiting();
  void WaitUntilReady();

  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string http_endpoint() const;
  [[nodiscard]] const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  [[nodiscard]] v1::ElectionService::Stub& stub() { return *stub_; }
  [[nodiscard]] v1::AdminService::Stub& admin() { return *admin_; }
  // The status and body of an HTTP page; status 0 if there was no answer.
  [[nodiscard]] std::pair<int, std::string> Get(const std::string& path) const;
  // The value of a metric without labels.
  [[nodiscard]] double Metric(const std::string& name) const;
  [[nodiscard]] int threads() const;
  [[nodiscard]] Process& process() { return *process_; }

 private:
  const std::string store_url_;
  const std::vector<std::string> flags_;
  const int port_;
  const int http_port_;
  Host host_;
  std::string program_;
  std::unique_ptr<Process> process_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ElectionService::Stub> stub_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
};

// The fields of a Campaign request.
struct CampaignArguments {
  std::string election = {};
  std::string candidate = {};
  std::string session_id = {};
  std::string value = {};
  std::chrono::milliseconds wait = 0ms;
  std::chrono::milliseconds lease_ttl = 30s;
  int priority = 0;
  std::string request_id = {};
  bool supersede = false;
  std::string previous_session_id = {};
  std::vector<std::string> elections = {};  // in place of `election`
  std::optional<uint64_t> after_term = {};
};
[[nodiscard]] v1::CampaignRequest ToRequest(const CampaignArguments& arguments);

// Calls that have to succeed.
v1::CampaignResponse Campaign(Tenured& server, const CampaignArguments& arguments);
v1::ResignResponse Resign(Tenured& server, const std::string& session_id,
                          const std::string& election = "");
v1::LeaderResponse Leader(Tenured& server, const std::string& election);
v1::Leadership Proclaim(Tenured& server, const std::string& session_id, const std::string& election,
                        uint64_t term, const std::string& value);
v1::DescribeElectionResponse Describe(Tenured& server, const std::string& election);
// What one renewal on a stream of its own says of a session.
v1::SessionRenewal Renew(Tenured& server, const std::string& session_id);

// Runs `tenured bump-terms` on a store that nobody serves. Returns the number after which all
// numbers begin.
uint64_t BumpTerms(const std::string& store_url);

// How a call ends that sends these bytes as its one request, whatever its method takes.
[[nodiscard]] grpc::Status SendBytes(const std::shared_ptr<grpc::Channel>& channel,
                                     const google::protobuf::MethodDescriptor& method,
                                     const std::string& bytes);
// All methods of the contract.
[[nodiscard]] std::vector<const google::protobuf::MethodDescriptor*> AllMethods();

// The ErrorInfo of a status; empty if it has none.
[[nodiscard]] google::rpc::ErrorInfo InfoOf(const grpc::Status& status);
// Its reason, or the code's name if it has none.
[[nodiscard]] std::string ReasonOf(const grpc::Status& status);

// "OK", its reason, or, if the service has not answered, "UNREACHABLE".
[[nodiscard]] std::string OutcomeOf(const grpc::Status& status);

// A KeepAlive stream, read by a thread of its own, which renews its sessions once, at its
// beginning.
class KeepAliveStream {
 public:
  using Condition = std::function<bool(const v1::KeepAliveResponse&)>;

  KeepAliveStream(Tenured& server, const std::vector<std::string>& sessions);
  ~KeepAliveStream();

  // The first message that fulfils the condition, now or later.
  v1::KeepAliveResponse WaitFor(const Condition& condition);
  v1::Renewal WaitForRenewal();
  // The first notice that a term of this election has ended.
  v1::SeatLost WaitForLoss(const std::string& election);
  v1::StepDown WaitForStepDown(const std::string& election);
  v1::SessionEnded WaitForSessionEnded();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::KeepAliveResponse> messages_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::KeepAliveRequest, v1::KeepAliveResponse>> stream_;
  std::thread thread_;
};

// A Campaign that waits, on a call of its own.
class WaitingCampaign {
 public:
  WaitingCampaign(Tenured& server, const CampaignArguments& arguments);
  WaitingCampaign(v1::ElectionService::Stub& client, const CampaignArguments& arguments);
  ~WaitingCampaign();

  void Cancel() { context_.TryCancel(); }
  [[nodiscard]] bool Done();
  // Waits for the answer.
  const grpc::Status& Status();
  const v1::CampaignResponse& Response();  // which has to be a success

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<grpc::Status> status_;
  grpc::ClientContext context_;
  v1::CampaignRequest request_;
  v1::CampaignResponse response_;
};

// An Observe stream, read by a thread of its own.
class Observer {
 public:
  Observer(Tenured& server, const v1::ObserveRequest& request);
  ~Observer();

  // Everything but progress, so far.
  [[nodiscard]] std::vector<v1::ObserveResponse> Messages();
  // The events so far.
  [[nodiscard]] std::vector<v1::Event> Events();
  void WaitUntilOpen();  // the first progress message
  [[nodiscard]] bool IsOpen();
  std::vector<v1::Event> WaitForEvents(size_t count);
  const grpc::Status& Status();  // waits for the end

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::optional<grpc::Status> status_;
  std::vector<v1::ObserveResponse> messages_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::ObserveResponse>> reader_;
  std::thread thread_;
};
[[nodiscard]] v1::ObserveRequest Election(const std::string& name,
                                          std::optional<uint64_t> from_revision = {});
[[nodiscard]] v1::ObserveRequest Prefix(const std::string& prefix,
                                        std::optional<uint64_t> from_revision = {});
// "ELECTED a 1", "VACATED a 1 RESIGNED".
[[nodiscard]] std::string Text(const v1::Event& event);
[[nodiscard]] std::vector<std::string> Texts(const std::vector<v1::Event>& events);

}  // namespace tenure::testing
