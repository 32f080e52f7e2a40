// Asks an Elector again and again whether it leads, and says when the answer changes:
//
//   leads TERM
//   led TERM LAST       LAST: when it last said so, in us since the epoch
//   LEADS AGAIN TERM    never to be seen
//
// Usage: stall_probe ENDPOINTS ELECTION CANDIDATE LEASE_MS. It ends with its parent.
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>

#include "tenure/elector.h"

int main(int, char** arguments) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::system_clock;
  prctl(PR_SET_PDEATHSIG, SIGKILL);

  const tenure::Client client({.endpoints = arguments[1],
                               .candidate = arguments[3],
                               .lease_ttl = std::chrono::milliseconds(std::stoi(arguments[4]))});
  const tenure::Elector elector(client, {.election = arguments[2]});
  uint64_t led = 0;      // the last term in which it led
  bool leading = false;  // the last answer
  Clock::time_point last;
  while (true) {
    const auto before = Clock::now();
    const uint64_t term = elector.term();
    if (term != 0) {
      if (term != led || !leading) {
        std::cout << (term > led ? "leads " : "LEADS AGAIN ") << term << std::endl;
      }
      led = term;
      last = before;
    } else if (leading) {
      const auto micros = std::chrono::floor<std::chrono::microseconds>(last.time_since_epoch());
      std::cout << "led " << led << " " << micros.count() << std::endl;
    }
    leading = term != 0;
    std::this_thread::sleep_for(200us);
  }
}
