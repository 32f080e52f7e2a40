// A list from the service, shown as one object after another as the pages arrive, or as a table.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "client/tool/call.h"
#include "client/tool/output.h"

namespace tenure {

// Not thread-safe.
template <typename Item>
class Listing {
 public:
  // How each item is shown.
  struct Form {
    std::vector<Column> columns;
    std::function<std::vector<std::string>(const Item&)> cells;
    std::function<Json(const Item&)> json;
  };

  // Limit 0: no limit.
  Listing(const Output& output, Form form, uint64_t limit)
      : output_(output), form_(std::move(form)), table_(form_.columns), paging_{limit} {}

  // Shows objects at once; the table is shown by Show.
  template <typename Stub, typename Request, typename Response>
  [[nodiscard]] grpc::Status Fetch(
      Connection& connection,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
      const google::protobuf::RepeatedPtrField<Item>& (Response::*items)() const,
      const Request& request) {
    return CallForPages(connection, method, request, paging_, [&](const Response& page) {
      for (const Item& item : (page.*items)()) {
        if (output_.json()) {
          output_.Object(form_.json(item));
        } else {
          table_.Add(form_.cells(item));
        }
      }
      return static_cast<uint64_t>((page.*items)().size());
    });
  }

  [[nodiscard]] bool empty() const { return paging_.taken == 0; }

  // Shows the table, or `nothing` if it is empty. Objects have been shown already.
  void Show(const std::string& nothing) const {
    if (output_.json()) return;
    if (empty()) return output_.Text(nothing);
    output_.Text(table_);
    if (paging_.more) output_.Text("(there are more; --limit 0 shows all of them)");
  }

 private:
  const Output& output_;
  const Form form_;
  Table table_;
  Paging paging_;
};

}  // namespace tenure
