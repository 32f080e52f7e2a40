// An application that uses something of each public header. Prints the term in which it leads.
#include <tenure/client.h>
#include <tenure/elector.h>
#include <tenure/fence.h>
#include <tenure/leader_cache.h>
#include <tenure/observer.h>
#include <tenure/sql_fence.h>

#include <chrono>
#include <future>
#include <iostream>

int main(int, char** arguments) {
  const std::string endpoints = arguments[1];
  const tenure::Client client({.endpoints = endpoints, .candidate = "application"});
  const tenure::LeaderCache cache({.endpoints = endpoints, .names = {"e"}});
  std::promise<uint64_t> told;
  const tenure::Observer observer({.endpoints = endpoints,
                                   .names = {"e"},
                                   .from_revision = 1,
                                   .on_event = [&](const tenure::v1::Event& event) {
                                     if (event.revision() == 1)
                                       told.set_value(event.leadership().term());
                                   }});
  std::promise<uint64_t> elected;
  const tenure::Elector elector(
      client, {.election = "e", .on_elected = [&](const tenure::v1::Leadership& seat) {
                 elected.set_value(seat.term());
               }});

  const uint64_t term = elected.get_future().get();
  if (told.get_future().get() != term) return 1;
  if (!cache.WaitUntilReady(std::chrono::seconds(30))) return 2;
  tenure::TermGuard guard;
  if (!guard.Enter({"e", term}, std::chrono::system_clock::time_point::max()).ok()) return 3;
  const auto interceptors = tenure::FenceCalls("e", [&] { return elector.term(); });
  if (tenure::SqlFence{"e", term}.Statement().empty()) return 4;
  std::cout << "term " << term << "\n";
}
