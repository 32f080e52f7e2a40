// What a transaction has to write: how a decided docket differs from the one that was loaded.
#pragma once

#include <vector>

#include "core/docket.h"
#include "storage/store.h"

namespace tenure {

struct Changes {
  std::vector<const Election*> elections;
  std::vector<const Session*> opened;    // that were not there
  std::vector<const Session*> sessions;  // that were, and changed
  std::vector<std::pair<const ElectionName*, const Candidacy*>> candidacies;
  std::vector<PlaceKey> departed;  // candidacies to delete

  [[nodiscard]] bool Empty() const {
    return elections.empty() && opened.empty() && sessions.empty() && candidacies.empty() &&
           departed.empty();
  }
};

// The answer points into `decided`, which has to outlive it. Pure.
[[nodiscard]] Changes Compare(const Docket& loaded, const Docket& decided);

// Completes a loaded docket: candidacies get what their sessions know, and queues their order.
void FinishLoading(Docket& docket);

}  // namespace tenure
