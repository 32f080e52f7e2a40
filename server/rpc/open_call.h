// gRPC's side of open calls: runs a machine (calls/machine.h) for a client's call, and converts its
// messages with `Fill` and `Parse`. The call ends with the machine's last message.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "proto/status.h"
#include "server/calls/call.h"
#include "server/rpc/call_messages.h"
#include "server/wire/dispatcher.h"

namespace tenure::rpc {

// `Request` is void if the machine reads none.
template <typename Machine, typename Request, typename Response>
class OpenCall final : public wire::CallHandler {
 public:
  // Begins the machine with these watches, and serves the call.
  static void Serve(wire::ServerCall& call, engine::Engine& engine, Machine machine,
                    const std::vector<engine::Watch>& watches, std::string trace,
                    prometheus::Gauge* open, std::shared_ptr<void> place) {
    const auto handler = std::make_shared<OpenCall>(call, engine, std::move(machine),
                                                    std::move(trace), open, std::move(place));
    if (const auto begun = handler->call_->Begin(watches); !begun) {
      call.Finish(ToStatus(begun.error()));
    }
    call.ServeWith(handler);  // only now: no event may reach the machine before it begins
  }

  // See Serve. `open`, if there is one, counts open calls. Holds its `place`.
  OpenCall(wire::ServerCall& wire, engine::Engine& engine, Machine machine, std::string trace,
           prometheus::Gauge* open, std::shared_ptr<void> place)
      : wire_(wire),
        engine_(engine),
        open_(open),
        place_(std::move(place)),
        call_(std::make_shared<calls::Call<Machine>>(
            engine, std::move(machine),
            [this](typename Machine::Outward outward) {
              std::visit([this](auto& it) { this->Do(it); }, outward);
            },
            std::move(trace))) {
    if (open_ != nullptr) open_->Increment();
  }
  ~OpenCall() override {
    if (open_ != nullptr) open_->Decrement();
  }

  void OnRead(grpc::ByteBuffer* message) override {
    if constexpr (!std::is_void_v<Request>) {
      if (message == nullptr) return call_->Happened(calls::ReadsDone{});
      Request request;
      const bool fits = message->Length() <= wire::kRequestBytesMax;
      if (!fits || !wire_.Receive(*message, request)) {
        return call_->Happened(calls::Received{tl::unexpected(wire::MalformedRequest())});
      }
      call_->Happened(calls::Received{rpc::Parse(request)});
    }
  }
  void OnWritten(bool ok) override {
    if constexpr (std::is_constructible_v<typename Machine::Event, calls::Written>) {
      call_->Happened(calls::Written{ok});
    }
  }
  void OnCancelled() override { call_->Happened(calls::Cancelled{}); }
  void OnEnd() override { call_->Leave(); }

 private:
  void Do(calls::ReadRequest&) { wire_.Read(); }
  template <typename T>
  void Do(calls::Write<T>& it) {
    Response response;
    Fill(it.message, response);
    // The first message of a stream names the service.
    if (!std::exchange(signed_, true)) response.set_service_id(engine_.service_id());
    wire_.Write(response);
  }
  template <typename T>
  void Do(calls::Reply<T>& it) {
    if (!it.reply) return wire_.Finish(ToStatus(it.reply.error()));
    Response response;
    Fill(*it.reply, response);
    response.mutable_session()->set_service_id(engine_.service_id());
    wire_.Answer(response);
  }
  void Do(calls::Finish) { wire_.Finish(grpc::Status::OK); }
  void Do(const calls::BreakOff& it) { wire_.Finish(ToStatus(it.error)); }
  void Do(calls::HangUp) { wire_.Finish(grpc::Status::CANCELLED); }

  wire::ServerCall& wire_;  // valid until finished
  engine::Engine& engine_;
  prometheus::Gauge* const open_;
  const std::shared_ptr<void> place_;
  const std::shared_ptr<calls::Call<Machine>> call_;
  bool signed_ = false;  // only one message is written at a time
};

}  // namespace tenure::rpc
