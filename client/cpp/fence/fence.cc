#include "tenure/fence.h"

#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "core/validation.h"
#include "proto/rich_status.h"

namespace tenure {
namespace {

using grpc::experimental::InterceptionHookPoints;

// Intercepts one call, which was prepared in `term` but may be started long after that.
class FencingInterceptor final : public grpc::experimental::Interceptor {
 public:
  FencingInterceptor(std::string election, uint64_t term, std::function<uint64_t()> term_now)
      : election_(std::move(election)), term_(term), term_now_(std::move(term_now)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    const auto at = [&](InterceptionHookPoints point) {
      return methods->QueryInterceptionHookPoint(point);
    };
    if (at(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      refused_ = term_ == 0 || term_now_() != term_;
      if (refused_) return methods->Hijack();  // gRPC calls this again for each later step
      auto& metadata = *methods->GetSendInitialMetadata();
      metadata.emplace(kElectionMetadata, election_);
      metadata.emplace(kTermMetadata, std::to_string(term_));
    }
    if (refused_) {
      if (at(InterceptionHookPoints::PRE_SEND_MESSAGE)) methods->FailHijackedSendMessage();
      if (at(InterceptionHookPoints::PRE_RECV_MESSAGE)) methods->FailHijackedRecvMessage();
      if (at(InterceptionHookPoints::PRE_RECV_STATUS)) {
        *methods->GetRecvStatus() =
            RichStatus(grpc::StatusCode::FAILED_PRECONDITION,
                       "this process does not lead election '" + election_ + "'", {"NOT_LEADER"});
      }
    }
    methods->Proceed();
  }

 private:
  const std::string election_;
  const uint64_t term_;
  const std::function<uint64_t()> term_now_;
  bool refused_ = false;
};

class FencingFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  FencingFactory(std::string election, std::function<uint64_t()> term)
      : election_(std::move(election)), term_(std::move(term)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new FencingInterceptor(election_, term_(), term_);
  }

 private:
  const std::string election_;
  const std::function<uint64_t()> term_;
};

// The only value of a key; nothing if there is none or more than one.
std::optional<std::string> Only(const grpc::ServerContextBase& context, const char* key) {
  const auto& metadata = context.client_metadata();
  if (metadata.count(key) != 1) return std::nullopt;
  const grpc::string_ref value = metadata.find(key)->second;
  return std::string(value.data(), value.size());
}

// 0 if it is none.
uint64_t ParseDecimal(const std::string& text) {
  uint64_t term = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, term);
  return parsed.ec == std::errc() && parsed.ptr == end ? term : 0;
}

grpc::Status Invalid(const std::string& message, const std::string& reason) {
  return RichStatus(grpc::StatusCode::INVALID_ARGUMENT, message, {reason});
}

}  // namespace

void Attach(const Fence& fence, grpc::ClientContext& context) {
  context.AddMetadata(kElectionMetadata, fence.election);
  context.AddMetadata(kTermMetadata, std::to_string(fence.term));
}

std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> FenceCalls(
    std::string election, std::function<uint64_t()> term) {
  return std::make_unique<FencingFactory>(std::move(election), std::move(term));
}

tl::expected<Fence, grpc::Status> FenceOf(const grpc::ServerContextBase& context) {
  const auto election = Only(context, kElectionMetadata);
  if (!election || !ParseElectionName(*election)) {
    return tl::unexpected(
        Invalid("the call must name one election in the metadata " + std::string(kElectionMetadata),
                "INVALID_ELECTION_NAME"));
  }
  const auto text = Only(context, kTermMetadata);
  const uint64_t term = text ? ParseDecimal(*text) : 0;
  if (term == 0) {
    return tl::unexpected(
        Invalid("the call must name one term in the metadata " + std::string(kTermMetadata),
                "INVALID_TERM"));
  }
  return Fence{*election, term};
}

}  // namespace tenure
