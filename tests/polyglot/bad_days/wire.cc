#include "tests/polyglot/bad_days/wire.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>

#include "tenure/v1/election.pb.h"
#include "tests/support/loopback.h"
#include "tests/support/process.h"

namespace tenure::testing {
namespace {

using google::protobuf::util::TimeUtil;

// HTTP/2: a frame is a header, which begins with a length, and that number of bytes. gRPC: a
// message is a flag, a length of four bytes, and that number of bytes.
constexpr size_t kFrameHeaderBytes = 9;
constexpr size_t kTypeAt = 3;
constexpr size_t kStreamAt = 5;
constexpr uint8_t kData = 0;
constexpr uint32_t kStreamMask = 0x7fff'ffff;
constexpr size_t kMessageHeaderBytes = 5;

constexpr auto kName = "replicas.test";
constexpr size_t kFirstHost = 2;  // of 127.0.0.0

uint32_t Number(std::string_view bytes, size_t at, size_t size) {
  uint32_t number = 0;
  for (size_t i = at; i < at + size; ++i) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

std::chrono::nanoseconds Nanoseconds(const google::protobuf::Duration& duration) {
  return std::chrono::nanoseconds(TimeUtil::DurationToNanoseconds(duration));
}

// The contract's requests can be told apart without the names of their methods: a renewal begins
// with a number, and a Campaign names the election where a Resign has the session.
template <typename Message>
std::optional<Message> Parse(const std::string& bytes) {
  Message message;
  const bool is_one =
      message.ParseFromString(bytes) && Message::GetReflection()->GetUnknownFields(message).empty();
  return is_one ? std::optional(message) : std::nullopt;
}

}  // namespace

std::vector<Messages::Message> Messages::Take(std::string_view bytes) {
  const size_t preface = std::min(preface_left_, bytes.size());
  preface_left_ -= preface;
  frames_ += bytes.substr(preface);
  std::vector<Message> messages;
  while (frames_.size() >= kFrameHeaderBytes) {
    const size_t payload = Number(frames_, 0, 3);
    if (frames_.size() < kFrameHeaderBytes + payload) break;
    if (static_cast<uint8_t>(frames_[kTypeAt]) == kData) {
      const uint32_t stream = Number(frames_, kStreamAt, 4) & kStreamMask;
      std::string& call = calls_[stream];
      call += frames_.substr(kFrameHeaderBytes, payload);
      while (call.size() >= kMessageHeaderBytes) {
        const size_t size = Number(call, 1, 4);
        if (call.size() < kMessageHeaderBytes + size) break;
        messages.push_back({stream, call.substr(kMessageHeaderBytes, size)});
        call.erase(0, kMessageHeaderBytes + size);
      }
    }
    frames_.erase(0, kFrameHeaderBytes + payload);
  }
  return messages;
}

Wire::Wire(Witness& witness, std::string process, std::string election,
           const std::vector<int>& ports, Kind kind)
    : witness_(witness),
      process_(std::move(process)),
      election_(std::move(election)),
      kind_(kind),
      port_(kind == Kind::kOneName ? FreePort() : 0) {
  for (const int port : ports) replicas_.push_back(Connect(port));
  if (kind != Kind::kClosed) Open();
}

Wire::Replica Wire::Connect(int port) {
  const size_t number = links_made_++;
  const std::string address =
      "127.0.0." + std::to_string(kind_ == Kind::kOneName ? kFirstHost + number : 1);
  const auto tap = [this, number](uint64_t connection, bool from_server, std::string_view bytes) {
    Read(number, connection, from_server, bytes);
  };
  return {port, address, std::make_unique<Link>(port, tap, loopback::Bind(address, port_))};
}

std::string Wire::endpoints() const {
  if (kind_ == Kind::kOneName) return kName + (":" + std::to_string(port_));
  std::string endpoints;
  for (const auto& replica : replicas_) {
    endpoints += (endpoints.empty() ? "" : ",") + replica.address + ":" +
                 std::to_string(replica.link->port());
  }
  return endpoints;
}

std::string Wire::hosts() const {
  std::string hosts = "127.0.0.1 localhost\n";
  for (const auto& replica : replicas_) hosts += replica.address + " " + kName + "\n";
  return hosts;
}

void Wire::Open() {
  if (std::exchange(open_, true)) return;
  for (const auto& replica : replicas_) replica.link->Open();
}

void Wire::Move(size_t replica) {
  replicas_[replica].link.reset();
  replicas_[replica] = Connect(replicas_[replica].port);
  replicas_[replica].link->Open();
}

void Wire::Become(Link::State state, std::chrono::milliseconds delay) {
  for (const auto& replica : replicas_) replica.link->Become(state, delay);
}

void Wire::Read(size_t link, uint64_t connection, bool from_server, std::string_view bytes) {
  const Moment now = Moment::clock::now();
  const std::lock_guard lock(mutex_);
  Connection& its = connections_[{link, connection}];
  for (const auto& message : (from_server ? its.answers : its.requests).Take(bytes)) {
    const Call call{link, connection, message.stream};
    if (from_server) {
      ReadAnswer(call, message.bytes, now);
    } else {
      ReadRequest(call, message.bytes, now);
    }
  }
}

void Wire::ReadRequest(const Call& call, const std::string& bytes, Moment now) {
  const auto renewal = Parse<v1::KeepAliveRequest>(bytes);
  if (renewal && renewal->sequence() != 0) {
    renewals_[call].emplace(renewal->sequence(), now);
    return witness_.Asked(process_);
  }
  const auto resignation = Parse<v1::ResignRequest>(bytes);
  if (resignation && resignation->session_id() != election_) {
    if (resignation->election() == election_ && resignation->has_term()) {
      witness_.Resigned(process_, resignation->term(), now);
    }
    return;
  }
  const auto campaign = Parse<v1::CampaignRequest>(bytes);
  if (!campaign || campaign->election() != election_) return;  // a health check
  campaigns_.emplace(call, now);
  witness_.Asked(process_);
}

void Wire::ReadAnswer(const Call& call, const std::string& bytes, Moment now) {
  if (const auto campaign = campaigns_.find(call); campaign != campaigns_.end()) {
    const auto answer = Parse<v1::CampaignResponse>(bytes);
    if (!answer) return;
    witness_.Answered(process_, campaign->second, Nanoseconds(answer->session().lease_ttl()), now);
    campaigns_.erase(campaign);
    return;
  }
  const auto stream = renewals_.find(call);
  if (stream == renewals_.end()) return;
  const auto answer = Parse<v1::KeepAliveResponse>(bytes);
  if (!answer || !answer->has_renewal()) return;
  const auto asked = stream->second.find(answer->renewal().sequence());
  if (asked == stream->second.end()) return;
  for (const auto& session : answer->renewal().sessions()) {
    if (!session.has_lease_ttl()) continue;
    witness_.Answered(process_, asked->second, Nanoseconds(session.lease_ttl()), now);
  }
}

}  // namespace tenure::testing
