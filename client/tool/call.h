// Unary calls that are retried until a replica answers.
#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "client/cpp/io/connection.h"

namespace tenure {

// Tries one replica after another until one answers, an error is permanent, or patience runs out.
// Blocks for some seconds at most.
[[nodiscard]] grpc::Status Persist(
    Connection& connection, const std::function<grpc::Status(grpc::ClientContext*)>& attempt);

// The stub that has the method.
inline std::shared_ptr<v1::ElectionService::Stub> StubFor(Connection& connection,
                                                          v1::ElectionService::Stub*) {
  return connection.stub();
}
inline std::shared_ptr<v1::AdminService::Stub> StubFor(Connection& connection,
                                                       v1::AdminService::Stub*) {
  return connection.admin();
}

// Persists with one method: Call(connection, &v1::AdminService::Stub::Pause, request, &response).
template <typename Stub, typename Request, typename Response>
[[nodiscard]] grpc::Status Call(Connection& connection,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request, Response* response) {
  return Persist(connection, [&](grpc::ClientContext* context) {
    return (StubFor(connection, static_cast<Stub*>(nullptr)).get()->*method)(context, request,
                                                                             response);
  });
}

// How much of a list is wanted, and how much was taken.
struct Paging {
  uint64_t limit = 0;  // 0: all of it
  uint64_t taken = 0;
  bool more = false;  // there is more than was taken
};

// Requests page after page, until the limit is reached or there are no more. `take` gets each page
// and returns its number of items.
template <typename Stub, typename Request, typename Response, typename Take>
[[nodiscard]] grpc::Status CallForPages(Connection& connection,
                                        grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                     const Request&, Response*),
                                        Request request, Paging& paging, Take take) {
  constexpr uint64_t kPageMax = 1000;  // the contract's maximum
  do {
    const uint64_t wanted = paging.limit == 0 ? kPageMax : paging.limit - paging.taken;
    request.set_page_size(static_cast<int32_t>(std::min(kPageMax, wanted)));
    Response page;
    const grpc::Status status = Call(connection, method, request, &page);
    if (!status.ok()) return status;
    request.set_page_token(page.next_page_token());
    paging.taken += take(page);
  } while (!request.page_token().empty() && (paging.limit == 0 || paging.taken < paging.limit));
  paging.more = !request.page_token().empty();
  return grpc::Status::OK;
}

}  // namespace tenure
