// The service that all candidates of a run share: two replicas on one database, which may break.
#pragma once

#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include "tenure/observer.h"
#include "tests/polyglot/bad_days/witness.h"
#include "tests/support/database_server.h"
#include "tests/support/tenured.h"

namespace tenure::testing {

class Stage {
 public:
  Stage();

  [[nodiscard]] DatabaseServer& database() { return database_; }
  [[nodiscard]] std::vector<std::unique_ptr<Tenured>>& replicas() { return replicas_; }
  // The ports of all replicas, beginning with this one.
  [[nodiscard]] std::vector<int> Ports(size_t first) const;
  // Reports all terms of an election to a witness, from now on and for as long as both live.
  [[nodiscard]] std::unique_ptr<tenure::Observer> Observe(const std::string& election,
                                                          Witness& witness) const;
  // Held while a process starts, until it stands. If they all started at once, present leaders
  // would wait for a processor until their leases end.
  [[nodiscard]] std::counting_semaphore<>& may_start() { return may_start_; }

 private:
  DatabaseServer database_;
  std::vector<std::unique_ptr<Tenured>> replicas_;
  std::counting_semaphore<> may_start_;  // as many as there are processors
};

}  // namespace tenure::testing
