#include "tests/support/hosts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace tenure::testing {
namespace {

std::string NetworkOf(const std::string& process) {
  return std::filesystem::read_symlink("/proc/" + process + "/ns/net").string();
}

bool OnlyLoopback() {
  const auto links = RunToEnd({"ip", "-oneline", "link"});
  return links.exit_code == 0 && std::ranges::count(links.output, '\n') == 1;
}

void Run(std::vector<std::string> command) {
  const Finished finished = RunToEnd(command);
  EXPECT_EQ(finished.exit_code, 0) << command.back() << ": " << finished.errors;
}

// The subnet of one host and the router.
std::string Subnet(size_t number) { return "10.77." + std::to_string(number + 1); }
std::string RouterOf(size_t number) { return Subnet(number) + ".254"; }
std::string Link(size_t number) { return "host" + std::to_string(number + 1); }

}  // namespace

Hosts::Hosts(size_t count) {
  if (!OnlyLoopback()) {
    ADD_FAILURE() << "this test changes its network: run it by `unshare --net`";
    std::exit(1);
  }
  std::ofstream("/proc/sys/net/ipv4/ip_forward") << 1;
  for (size_t i = 0; i < count; ++i) {
    namespaces_.push_back(std::make_unique<Process>(
        std::vector<std::string>{"unshare", "--net", "sleep", "infinity"}));
    const std::string pid = std::to_string(namespaces_.back()->pid());
    EXPECT_TRUE(Eventually([&] { return NetworkOf(pid) != NetworkOf("self"); }));
    hosts_.push_back({Subnet(i) + ".1", {"nsenter", "--net=/proc/" + pid + "/ns/net", "--"}});
    Run({"ip", "link", "add", Link(i), "type", "veth", "peer", "name", "eth0", "netns", pid});
    Run({"ip", "address", "add", RouterOf(i) + "/24", "dev", Link(i)});
    Run({"ip", "link", "set", Link(i), "up"});
    const Host& host = hosts_.back();
    Run(host.CommandLine({"ip", "link", "set", "lo", "up"}));
    Run(host.CommandLine({"ip", "address", "add", host.address + "/24", "dev", "eth0"}));
    Run(host.CommandLine({"ip", "link", "set", "eth0", "up"}));
    Run(host.CommandLine({"ip", "route", "add", "default", "via", RouterOf(i)}));
  }
}

Hosts::~Hosts() {
  for (size_t i = 0; i < hosts_.size(); ++i) Run({"ip", "link", "delete", Link(i)});
}

std::string Hosts::router() const { return RouterOf(0); }

void Hosts::CutOff(size_t number) { ChangeRules("add", number); }

void Hosts::Reconnect(size_t number) { ChangeRules("delete", number); }

void Hosts::ChangeRules(const std::string& change, size_t number) {
  const std::string here = hosts_[number].address;
  for (const Host& other : hosts_) {
    if (other.address == here) continue;
    Run({"ip", "rule", change, "from", here, "to", other.address, "blackhole"});
    Run({"ip", "rule", change, "from", other.address, "to", here, "blackhole"});
  }
}

}  // namespace tenure::testing
