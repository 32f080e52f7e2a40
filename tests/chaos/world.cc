#include "tests/chaos/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/sql_application.h"

namespace tenure::testing {

World::World(const WorldPlan& plan)
    : plan_(plan), databases_(StartDatabases(plan.databases, plan.small_disk)) {
  DatabaseServer& first = databases_->Writable();
  first.FreshDatabase("tenure");
  SqlApplication(first.FreshDatabase("application")).Run(kMakeWrites);

  const std::string program = plan.tenured.empty() ? Program("tenured") : plan.tenured;
  for (int i = 0; i < plan.replicas; ++i) {
    auto& links = database_links_.emplace_back();
    std::string addresses;
    for (size_t server = 0; server < databases_->size(); ++server) {
      links.push_back(std::make_unique<Link>(databases_->server(server).port()));
      addresses +=
          fmt::format("{}127.0.0.1:{}", addresses.empty() ? "" : ",", links.back()->port());
    }
    const std::string url = fmt::format("mysql://root@{}/tenure", addresses);
    replicas_.push_back(std::make_unique<Tenured>(url, plan.flags, true, Host(), program));
    const std::string endpoint = replicas_.back()->endpoint();
    const int port = std::stoi(endpoint.substr(endpoint.find(':') + 1));
    client_links_.push_back(std::make_unique<Link>(port));
  }

  for (int i = 0; i < plan.elections; ++i) {
    elections_.push_back(fmt::format("{}{}", i % 2 == 0 ? kSteady : "restless-", i));
  }
  const int each = plan.candidates_per_process;
  for (int process = 0; process < plan.candidates / each; ++process) {
    std::vector<std::string> command = {
        Program("chaos"),
        "candidates",
        "--endpoints",
        Endpoints(static_cast<size_t>(process) % replicas_.size()),
        "--seed",
        std::to_string(plan.seed * static_cast<uint64_t>(plan.candidates + process * each))};
    for (const std::string& url : ApplicationUrls()) {
      command.insert(command.end(), {"--database", url});
    }
    for (int i = process * each; i < (process + 1) * each; ++i) {
      command.insert(command.end(),
                     {"--election", elections_[static_cast<size_t>(i % plan.elections)]});
    }
    commands_.push_back(std::move(command));
    processes_.emplace_back();
    names_.emplace_back();
    StartProcess(static_cast<size_t>(process));
  }
  WaitUntilAllAreLed();
}

void World::StartProcess(size_t number) {
  if (processes_[number] != nullptr) {
    former_.push_back(std::move(processes_[number]));
    former_names_.push_back(names_[number]);
  }
  names_[number] = fmt::format("p{}.{}", number, starts_++);
  std::vector<std::string> command = commands_[number];
  command.insert(command.end(), {"--name", names_[number]});
  processes_[number] = std::make_unique<Process>(std::move(command));
}

std::vector<Link*> World::LinksToDatabases(size_t replica) const {
  std::vector<Link*> links;
  for (const auto& link : database_links_.at(replica)) links.push_back(link.get());
  return links;
}

std::vector<std::string> World::ApplicationUrls() const {
  std::vector<std::string> urls;
  for (size_t i = 0; i < databases_->size(); ++i) {
    urls.push_back(
        fmt::format("mysql://root@127.0.0.1:{}/application", databases_->server(i).port()));
  }
  return urls;
}

std::string World::Endpoints(size_t first) const {
  std::string endpoints;
  for (size_t i = 0; i < client_links_.size(); ++i) {
    const Link& link = *client_links_[(first + i) % client_links_.size()];
    endpoints += fmt::format("{}127.0.0.1:{}", endpoints.empty() ? "" : ",", link.port());
  }
  return endpoints;
}

std::map<std::string, uint64_t> World::Leaders() {
  std::map<std::string, uint64_t> leaders;
  for (const std::string& election : elections_) {
    for (const auto& replica : replicas_) {
      v1::LeaderRequest request;
      request.set_election(election);
      v1::LeaderResponse response;
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + 500ms);
      if (!replica->stub().Leader(&context, request, &response).ok()) continue;
      if (response.has_leader()) leaders[election] = response.term();
      break;
    }
  }
  return leaders;
}

void World::WaitUntilAllAreLed() {
  EXPECT_TRUE(Eventually([&] { return Leaders().size() == elections_.size(); }, 2 * kPatience));
}

void World::End(History& history) {
  for (const auto& process : processes_) process->Signal(SIGTERM);
  for (const auto& process : processes_) process->Wait();
  const auto add = [&](Process& process, const std::string& name) {
    for (const std::string& line : process.Lines()) history.Add(line, name);
  };
  for (size_t i = 0; i < former_.size(); ++i) add(*former_[i], former_names_[i]);
  for (size_t i = 0; i < processes_.size(); ++i) add(*processes_[i], names_[i]);
}

}  // namespace tenure::testing
