#include "tests/support/tenured.h"

#include <google/protobuf/util/time_util.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <future>

namespace tenure::testing {
namespace {

using google::protobuf::util::TimeUtil;

using Credentials = std::shared_ptr<grpc::ChannelCredentials>;

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& endpoint,
                                         const Credentials& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(endpoint, credentials, arguments);
}

void SetPatience(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  context.set_wait_for_ready(true);
}

void ExpectOk(const grpc::Status& status) { EXPECT_TRUE(status.ok()) << status.error_message(); }

}  // namespace

std::unique_ptr<v1::ElectionService::Stub> Connect(const std::string& endpoint,
                                                   const Credentials& credentials) {
  return v1::ElectionService::NewStub(ChannelTo(endpoint, credentials));
}

std::string Program(const std::string& name) {
  return std::string(TENURE_TEST_PROGRAMS) + "/" + name;
}

Tenured::Tenured(std::string store_url, std::vector<std::string> flags, bool wait_until_ready,
                 Host host, std::string program)
    : store_url_(std::move(store_url)),
      flags_(std::move(flags)),
      port_(FreePort()),
      http_port_(FreePort()),
      host_(std::move(host)),
      program_(std::move(program)) {
  StartWithoutWaiting();
  if (wait_until_ready) WaitUntilReady();
}

void Tenured::StartWithoutWaiting() {
  std::vector<std::string> command = {program_,        "--listen", endpoint(), "--http-listen",
                                      http_endpoint(), "--store",  store_url_};
  command.insert(command.end(), flags_.begin(), flags_.end());
  process_ = std::make_unique<Process>(host_.CommandLine(std::move(command)));
  channel_ = ChannelTo(endpoint(), grpc::InsecureChannelCredentials());
  stub_ = v1::ElectionService::NewStub(channel_);
  admin_ = v1::AdminService::NewStub(channel_);
}

void Tenured::Start() {
  StartWithoutWaiting();
  WaitUntilReady();
}

void Tenured::WaitUntilReady() {
  const bool ready = Eventually([&] { return Get("/readyz").first == 200; });
  EXPECT_TRUE(ready) << process_->Output() << process_->Errors();
}

void Tenured::Kill() {
  process_->Signal(SIGKILL);
  process_->Wait();
}

int Tenured::Terminate() {
  process_->Signal(SIGTERM);
  return process_->Wait();
}

std::string Tenured::endpoint() const { return host_.address + ":" + std::to_string(port_); }

std::string Tenured::http_endpoint() const {
  return host_.address + ":" + std::to_string(http_port_);
}

std::pair<int, std::string> Tenured::Get(const std::string& path) const {
  httplib::Client client(host_.address, http_port_);
  const auto response = client.Get(path);
  return response ? std::pair(response->status, response->body) : std::pair(0, std::string());
}

double Tenured::Metric(const std::string& name) const {
  const std::string page = "\n" + Get("/metrics").second;
  const std::string begin = "\n" + name + " ";
  const size_t at = page.find(begin);
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? -1 : std::stod(page.substr(at + begin.size()));
}

int Tenured::threads() const {
  const auto tasks = std::filesystem::path("/proc") / std::to_string(process_->pid()) / "task";
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(tasks), {}));
}

v1::CampaignRequest ToRequest(const CampaignArguments& arguments) {
  v1::CampaignRequest request;
  request.set_election(arguments.election);
  request.set_session_id(arguments.session_id);
  request.set_candidate(arguments.candidate);
  request.set_value(arguments.value);
  request.set_priority(arguments.priority);
  request.set_request_id(arguments.request_id);
  request.set_supersede(arguments.supersede);
  request.set_previous_session_id(arguments.previous_session_id);
  if (arguments.after_term) request.set_after_term(*arguments.after_term);
  request.mutable_elections()->Add(arguments.elections.begin(), arguments.elections.end());
  *request.mutable_wait() = TimeUtil::MillisecondsToDuration(arguments.wait.count());
  *request.mutable_lease_ttl() = TimeUtil::MillisecondsToDuration(arguments.lease_ttl.count());
  return request;
}

v1::CampaignResponse Campaign(Tenured& server, const CampaignArguments& arguments) {
  grpc::ClientContext context;
  SetPatience(context);
  v1::CampaignResponse response;
  ExpectOk(server.stub().Campaign(&context, ToRequest(arguments), &response));
  return response;
}

v1::ResignResponse Resign(Tenured& server, const std::string& session_id,
                          const std::string& election) {
  grpc::ClientContext context;
  SetPatience(context);
  v1::ResignRequest request;
  request.set_session_id(session_id);
  request.set_election(election);
  v1::ResignResponse response;
  ExpectOk(server.stub().Resign(&context, request, &response));
  return response;
}

v1::LeaderResponse Leader(Tenured& server, const std::string& election) {
  grpc::ClientContext context;
  SetPatience(context);
  v1::LeaderRequest request;
  request.set_election(election);
  v1::LeaderResponse response;
  ExpectOk(server.stub().Leader(&context, request, &response));
  return response;
}

v1::DescribeElectionResponse Describe(Tenured& server, const std::string& election) {
  grpc::ClientContext context;
  SetPatience(context);
  v1::DescribeElectionRequest request;
  request.set_election(election);
  v1::DescribeElectionResponse response;
  ExpectOk(server.admin().DescribeElection(&context, request, &response));
  return response;
}

v1::Leadership Proclaim(Tenured& server, const std::string& session_id, const std::string& election,
                        uint64_t term, const std::string& value) {
  grpc::ClientContext context;
  SetPatience(context);
  v1::ProclaimRequest request;
  request.set_session_id(session_id);
  request.set_election(election);
  request.set_term(term);
  request.set_value(value);
  v1::ProclaimResponse response;
  ExpectOk(server.stub().Proclaim(&context, request, &response));
  return response.leadership();
}

v1::SessionRenewal Renew(Tenured& server, const std::string& session_id) {
  grpc::ClientContext context;
  SetPatience(context);
  const auto stream = server.stub().KeepAlive(&context);
  v1::KeepAliveRequest request;
  request.set_sequence(1);
  request.add_session_ids(session_id);
  stream->Write(request);
  stream->WritesDone();
  v1::KeepAliveResponse response;
  v1::SessionRenewal renewal;
  while (stream->Read(&response)) {
    if (response.has_renewal()) renewal = response.renewal().sessions(0);
  }
  ExpectOk(stream->Finish());
  return renewal;
}

uint64_t BumpTerms(const std::string& store_url) {
  const Finished bumped = RunToEnd({Program("tenured"), "bump-terms", "--store", store_url});
  EXPECT_EQ(bumped.exit_code, 0) << bumped.errors;
  const std::string phrase = "will be higher than ";
  const size_t at = bumped.output.find(phrase);
  if (at != std::string::npos) return std::stoull(bumped.output.substr(at + phrase.size()));
  ADD_FAILURE() << bumped.output;
  return 0;
}

grpc::Status SendBytes(const std::shared_ptr<grpc::Channel>& channel,
                       const google::protobuf::MethodDescriptor& method, const std::string& bytes) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  SetPatience(context);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/" + method.service()->full_name() + "/" + method.name(), {}, &request,
                 &response, [&](grpc::Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

std::vector<const google::protobuf::MethodDescriptor*> AllMethods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const auto* file :
       {v1::CampaignRequest::descriptor()->file(), v1::AppointRequest::descriptor()->file()}) {
    const auto* service = file->service(0);
    for (int i = 0; i < service->method_count(); ++i) methods.push_back(service->method(i));
  }
  return methods;
}

google::rpc::ErrorInfo InfoOf(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  details.ParseFromString(status.error_details());
  for (const auto& detail : details.details()) {
    if (detail.UnpackTo(&info)) return info;
  }
  return {};
}

std::string ReasonOf(const grpc::Status& status) {
  const std::string reason = InfoOf(status).reason();
  if (!reason.empty()) return reason;
  return "code " + std::to_string(status.error_code()) + ": " + status.error_message();
}

std::string OutcomeOf(const grpc::Status& status) {
  if (status.ok()) return "OK";
  const bool answered = !InfoOf(status).reason().empty();
  return status.error_code() == grpc::StatusCode::UNAVAILABLE && !answered ? "UNREACHABLE"
                                                                           : ReasonOf(status);
}

KeepAliveStream::KeepAliveStream(Tenured& server, const std::vector<std::string>& sessions) {
  context_.set_wait_for_ready(true);
  stream_ = server.stub().KeepAlive(&context_);
  v1::KeepAliveRequest request;
  request.set_sequence(1);
  request.mutable_session_ids()->Add(sessions.begin(), sessions.end());
  stream_->Write(request);
  thread_ = std::thread([this] {
    v1::KeepAliveResponse response;
    while (stream_->Read(&response)) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(response);
      changed_.notify_all();
    }
    stream_->Finish();
  });
}

KeepAliveStream::~KeepAliveStream() {
  context_.TryCancel();
  thread_.join();
}

v1::KeepAliveResponse KeepAliveStream::WaitFor(const Condition& condition) {
  std::unique_lock lock(mutex_);
  auto found = messages_.end();
  const bool came = changed_.wait_for(lock, kPatience, [&] {
    found = std::ranges::find_if(messages_, condition);
    return found != messages_.end();
  });
  EXPECT_TRUE(came) << "the stream has sent something else, " << messages_.size() << " times";
  return came ? *found : v1::KeepAliveResponse();
}

v1::Renewal KeepAliveStream::WaitForRenewal() {
  return WaitFor([](const auto& message) { return message.has_renewal(); }).renewal();
}

v1::SeatLost KeepAliveStream::WaitForLoss(const std::string& election) {
  return WaitFor([&](const auto& message) {
           return message.notice().election() == election && message.notice().has_lost();
         })
      .notice()
      .lost();
}

v1::StepDown KeepAliveStream::WaitForStepDown(const std::string& election) {
  return WaitFor([&](const auto& message) {
           return message.notice().election() == election && message.notice().has_step_down();
         })
      .notice()
      .step_down();
}

v1::SessionEnded KeepAliveStream::WaitForSessionEnded() {
  return WaitFor([](const auto& message) { return message.has_session_ended(); }).session_ended();
}

WaitingCampaign::WaitingCampaign(Tenured& server, const CampaignArguments& arguments)
    : WaitingCampaign(server.stub(), arguments) {}

WaitingCampaign::WaitingCampaign(v1::ElectionService::Stub& client,
                                 const CampaignArguments& arguments)
    : request_(ToRequest(arguments)) {
  if (arguments.wait == 0ms) request_.clear_wait();
  SetPatience(context_);
  client.async()->Campaign(&context_, &request_, &response_, [this](const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
    changed_.notify_all();
  });
}

WaitingCampaign::~WaitingCampaign() {
  Cancel();
  Status();
}

bool WaitingCampaign::Done() {
  const std::lock_guard lock(mutex_);
  return status_.has_value();
}

const grpc::Status& WaitingCampaign::Status() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return status_.has_value(); });
  return *status_;
}

const v1::CampaignResponse& WaitingCampaign::Response() {
  EXPECT_TRUE(Status().ok()) << Status().error_message();
  return response_;
}

Observer::Observer(Tenured& server, const v1::ObserveRequest& request) {
  context_.set_wait_for_ready(true);
  reader_ = server.stub().Observe(&context_, request);
  thread_ = std::thread([this] {
    v1::ObserveResponse response;
    while (reader_->Read(&response)) {
      const std::lock_guard lock(mutex_);
      if (response.has_progress()) {
        open_ = true;
      } else {
        messages_.push_back(response);
      }
      changed_.notify_all();
    }
    const grpc::Status status = reader_->Finish();
    const std::lock_guard lock(mutex_);
    status_ = status;
    changed_.notify_all();
  });
}

Observer::~Observer() {
  context_.TryCancel();
  thread_.join();
}

std::vector<v1::ObserveResponse> Observer::Messages() {
  const std::lock_guard lock(mutex_);
  return messages_;
}

std::vector<v1::Event> Observer::Events() {
  std::vector<v1::Event> events;
  for (const auto& message : Messages()) {
    if (message.has_event()) events.push_back(message.event());
  }
  return events;
}

void Observer::WaitUntilOpen() {
  std::unique_lock lock(mutex_);
  const bool open = changed_.wait_for(lock, kPatience, [&] { return open_; });
  EXPECT_TRUE(open) << "the stream does not open";
}

bool Observer::IsOpen() {
  const std::unique_lock lock(mutex_);
  return open_;
}

std::vector<v1::Event> Observer::WaitForEvents(size_t count) {
  const bool arrived = Eventually([&] { return Events().size() >= count; });
  const auto events = Events();
  EXPECT_TRUE(arrived) << events.size() << " events of " << count;
  return events;
}

const grpc::Status& Observer::Status() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return status_.has_value(); });
  return *status_;
}

v1::ObserveRequest Election(const std::string& name, std::optional<uint64_t> from_revision) {
  v1::ObserveRequest request;
  auto& selector = *request.add_selectors();
  selector.set_election(name);
  if (from_revision) selector.set_from_revision(*from_revision);
  return request;
}

v1::ObserveRequest Prefix(const std::string& prefix, std::optional<uint64_t> from_revision) {
  v1::ObserveRequest request;
  auto& selector = *request.add_selectors();
  selector.set_prefix(prefix);
  if (from_revision) selector.set_from_revision(*from_revision);
  return request;
}

std::string Text(const v1::Event& event) {
  std::string text = v1::Event::Type_Name(event.type()).substr(5) + " " +
                     event.leadership().candidate() + " " +
                     std::to_string(event.leadership().term());
  if (event.cause() != v1::CAUSE_UNSPECIFIED) text += " " + v1::Cause_Name(event.cause()).substr(6);
  return text;
}

std::vector<std::string> Texts(const std::vector<v1::Event>& events) {
  std::vector<std::string> texts;
  for (const v1::Event& event : events) texts.push_back(Text(event));
  return texts;
}

}  // namespace tenure::testing
