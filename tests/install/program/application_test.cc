// A test of an application, without a server. Prints the term in which its client leads.
#include <tenure/elector.h>
#include <tenure/testing.h>

#include <iostream>

int main() {
  tenure::FakeTenure fake;
  const tenure::Client client(fake.Options("application"));
  const tenure::Elector elector(client, {.election = "e"});
  fake.Advance(std::chrono::hours(1));
  std::cout << "term " << elector.term() << "\n";
}
