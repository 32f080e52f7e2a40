// Other replicas' rows in the table of homes: which of them have stopped, and which sessions have
// lost their home. Pure: time is an argument, by the watcher's service clock.
//
// As in Ismail et al. (2015), a process is taken for dead when its counter stops. Nothing is
// concluded while the watcher itself cannot write: nobody else may be able to, either.
//
// Not safe to use from two threads at once.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/homes/home_row.h"
#include "core/homes/service_clock.h"

namespace tenure {

class HomeWatch {
 public:
  // Sessions of `home` with leases up to `lease_max` may be ended: their lease has passed since
  // this replica saw that their home is dead.
  struct Orphaned {
    HomeId home;
    Duration lease_max;

    bool operator==(const Orphaned&) const = default;
  };

  // What the database says of all homes but the watcher's own: the rows that are not dead, and
  // homes that still have sessions although they are dead or have no row. `now` is after the answer
  // arrived. Forgets homes in neither list.
  void Saw(const std::vector<HomeRow>& living, const std::vector<HomeId>& gone, ServiceTime now);

  // This replica could not beat for a while. Others may not have been able to, either: from the
  // next answer on, each has its full time again.
  void Interrupted() { living_.clear(); }

  // Homes whose beat has been unchanged for as long as their row says it is valid. Declare each
  // dead only if its beat is still this one.
  [[nodiscard]] std::vector<HomeRow> Overdue(ServiceTime now) const;
  // When the next home becomes overdue. Nothing: no other home is living.
  [[nodiscard]] std::optional<ServiceTime> NextOverdue() const;
  // `home` has been declared dead. `now` is after the acknowledgement.
  void Died(HomeId home, ServiceTime now);
  [[nodiscard]] bool AnyGone() const { return !gone_.empty(); }

  [[nodiscard]] std::vector<Orphaned> Orphans(ServiceTime now) const;

 private:
  struct Living {
    HomeRow row;
    ServiceTime since;  // when the beat was first seen

    [[nodiscard]] ServiceTime Overdue() const;
  };

  std::map<HomeId, Living> living_;
  std::map<HomeId, ServiceTime> gone_;  // since when
};

}  // namespace tenure
