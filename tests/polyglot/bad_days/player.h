// A running candidate: its program, its wires, and what it says.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/polyglot/bad_days/language.h"
#include "tests/polyglot/bad_days/wire.h"
#include "tests/polyglot/bad_days/witness.h"
#include "tests/support/process.h"

namespace tenure::testing {

// How a candidate finds the replicas.
struct Endpoints {
  Wire::Kind kind = Wire::Kind::kOpen;
  std::string wrong = {};  // before the right ones: nobody listens there, or no replica does
};

struct Stand {
  std::string election;
  std::string name;     // of the candidate
  std::string process;  // for the witness
  std::chrono::milliseconds lease;
  bool supersede = false;
  Endpoints endpoints = {};
};

class Player {
 public:
  // Starts the program, which lives as long as the thread that calls this.
  Player(const Language& language, Witness& witness, Stand stand,
         const std::vector<int>& replica_ports);
  // Killed, if it still runs.
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // How it works when its work is asked to stop: it stops at once, or it lingers until its term is
  // over.
  void Linger(bool lingers);
  // Its work ends by itself, so that its seat is given up. It stands again.
  void Resign();
  // It resigns, and when its term has ended it stands with another elector of the same client.
  // `tenure run` only resigns: it stands again by itself.
  void StandAgain();
  // Makes what can go wrong in its language go wrong, once. `tenure run` has no such thing.
  void MakeTrouble() { Tell(R"({"do":"trouble"})"); }
  // It gives up everything and ends. Returns whether it did, with success.
  [[nodiscard]] bool Quit();
  // A replica is at another address of its name. REQUIRES: it finds them by name.
  void Move(size_t replica);
  // Steps its time of day, and no other clock.
  void MoveClock(std::chrono::seconds by);
  void Signal(int number) const { process_->Signal(number); }
  [[nodiscard]] bool Running() { return process_->Running(); }

  [[nodiscard]] Wire& wire() { return wire_; }
  [[nodiscard]] const Stand& stand() const { return stand_; }
  [[nodiscard]] const Language& language() const { return language_; }
  // Its warnings about endpoints that it cannot use, on standard error: lines from "cannot use" on.
  [[nodiscard]] std::vector<std::string> Warnings() const;

 private:
  // The witness knows it as long as this lives.
  class Known {
   public:
    Known(Witness& witness, const Witness::Candidate& candidate)
        : witness_(witness), process_(candidate.process) {
      witness_.Add(candidate);
    }
    ~Known() { witness_.Remove(process_); }
    Known(const Known&) = delete;
    Known& operator=(const Known&) = delete;

   private:
    Witness& witness_;
    const std::string process_;
  };

  void Tell(const std::string& line) const;
  void Listen(int output);
  void WriteHosts() const;

  const Language& language_;
  Witness& witness_;
  const Stand stand_;
  const Known known_;  // before the wire, which reports to the witness until it is gone
  Wire wire_;
  TempDir folder_;
  const std::string hosts_ = folder_.path() / "hosts";
  int64_t* clock_ahead_ns_ = nullptr;  // shared with the process
  int input_ = -1;
  std::unique_ptr<Process> process_;
  std::thread listener_;
};

}  // namespace tenure::testing
