// gRPC's side of open calls: one reactor for each shape of call.
//
// A reactor runs a machine (calls/machine.h), converts its messages with `Fill`, and owns itself
// until gRPC is done with it. It finishes the call once: with the last thing that its machine says.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "proto/status.h"
#include "server/calls/call.h"
#include "server/rpc/call_messages.h"
#include "server/rpc/refused.h"

namespace tenure::rpc {

// What all shapes share. `Shape` is gRPC's reactor; `Derived` does what the machine says.
template <typename Derived, typename Shape, typename Machine>
class Reactor : public Shape {
 public:
  using Call = calls::Call<Machine>;

  Reactor(engine::Engine& engine, Machine machine, std::string trace)
      : engine_(engine),
        call_(std::make_shared<Call>(
            engine, std::move(machine),
            [this](typename Machine::Outward outward) {
              std::visit([this](auto& it) { static_cast<Derived*>(this)->Do(it); }, outward);
            },
            std::move(trace))) {}

  // Once. Afterwards the reactor is gRPC's.
  Shape* Begin(const std::vector<engine::Watch>& watches) {
    if (const auto begun = call_->Begin(watches); !begun) this->Finish(ToStatus(begun.error()));
    return this;
  }

  void OnCancel() override { call_->Happened(calls::Cancelled{}); }
  void OnDone() override {
    call_->Leave();
    delete static_cast<Derived*>(this);
  }

 protected:
  ~Reactor() = default;

  void End(calls::Finish) { this->Finish(grpc::Status::OK); }
  void End(const calls::BreakOff& it) { this->Finish(ToStatus(it.error)); }
  void End(calls::HangUp) { this->Finish(grpc::Status::CANCELLED); }

  // The first message of a stream names the service.
  template <typename Response>
  void Sign(Response& response) {
    if (!std::exchange(signed_, true)) response.set_service_id(engine_.service_id());
  }

  engine::Engine& engine_;
  const std::shared_ptr<Call> call_;

 private:
  bool signed_ = false;  // one message is written at a time
};

// `response` is valid until the call is finished.
template <typename Machine, typename Response>
class UnaryReactor final
    : public Reactor<UnaryReactor<Machine, Response>, grpc::ServerUnaryReactor, Machine> {
 public:
  UnaryReactor(engine::Engine& engine, Machine machine, std::string trace, Response* response)
      : UnaryReactor::Reactor(engine, std::move(machine), std::move(trace)), response_(response) {}

  template <typename T>
  void Do(calls::Reply<T>& it) {
    if (!it.reply) return this->Finish(ToStatus(it.reply.error()));
    Fill(*it.reply, *response_);
    response_->mutable_session()->set_service_id(this->engine_.service_id());
    this->Finish(grpc::Status::OK);
  }
  void Do(calls::HangUp it) { this->End(it); }

 private:
  Response* const response_;
};

template <typename Machine, typename Response>
class WriteReactor final
    : public Reactor<WriteReactor<Machine, Response>, grpc::ServerWriteReactor<Response>, Machine> {
 public:
  // `open` counts the streams.
  WriteReactor(engine::Engine& engine, Machine machine, prometheus::Gauge& open)
      : WriteReactor::Reactor(engine, std::move(machine), ""), open_(open) {
    open_.Increment();
  }
  ~WriteReactor() { open_.Decrement(); }

  void OnWriteDone(bool ok) override { this->call_->Happened(calls::Written{ok}); }

  template <typename T>
  void Do(calls::Write<T>& it) {
    in_flight_.Clear();
    Fill(it.message, in_flight_);
    this->Sign(in_flight_);
    this->StartWrite(&in_flight_);
  }
  template <typename T>
  void Do(const T& last) {
    this->End(last);
  }

 private:
  prometheus::Gauge& open_;
  Response in_flight_;
};

using BytesReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// Of a request on a stream. The largest one that is valid has a quarter of it.
inline constexpr size_t kStreamedRequestBytesMax = 64 << 10;

// Parses what it reads, since gRPC would take a malformed message for the end of all messages.
template <typename Machine, typename Request, typename Response>
class BidiReactor final
    : public Reactor<BidiReactor<Machine, Request, Response>, BytesReactor, Machine> {
 public:
  BidiReactor(engine::Engine& engine, Machine machine)
      : BidiReactor::Reactor(engine, std::move(machine), "") {}

  void OnReadDone(bool ok) override {
    if (!ok) return this->call_->Happened(calls::ReadsDone{});
    const bool too_large = received_.Length() > kStreamedRequestBytesMax;
    if (too_large || !grpc::SerializationTraits<Request>::Deserialize(&received_, &request_).ok()) {
      return this->call_->Happened(calls::Received{tl::unexpected(MalformedRequest())});
    }
    auto parsed = Parse(request_);
    this->call_->Happened(calls::Received{std::move(parsed)});
  }
  void OnWriteDone(bool ok) override {
    in_flight_.Clear();
    this->call_->Happened(calls::Written{ok});
  }

  void Do(calls::ReadRequest&) { this->StartRead(&received_); }
  template <typename T>
  void Do(calls::Write<T>& it) {
    Response response;
    Fill(it.message, response);
    this->Sign(response);
    bool owned = true;
    (void)grpc::SerializationTraits<Response>::Serialize(response, &in_flight_, &owned);
    this->StartWrite(&in_flight_);
  }
  template <typename T>
  void Do(const T& last) {
    this->End(last);
  }

 private:
  // Of the read in flight, and of the write.
  grpc::ByteBuffer received_;
  grpc::ByteBuffer in_flight_;
  Request request_;
};

}  // namespace tenure::rpc
