#include "tests/image/podman.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tenure::testing {
namespace {

std::string Setting(const char* variable) {
  const char* value = std::getenv(variable);
  EXPECT_NE(value, nullptr) << variable << " is not set: run scripts/test-image.sh";
  return value == nullptr ? "" : value;
}

std::string ImageName() { return Setting("TENURE_TEST_IMAGE"); }

std::vector<std::string> Command(const std::vector<std::string>& arguments) {
  const std::string storage = Setting("TENURE_TEST_IMAGE_STORAGE");
  std::vector<std::string> command = {"podman", "--log-level=fatal",  // systemd may be missing
                                      "--root", storage + "/images", "--runroot", storage + "/run"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string NextName() {
  static int count = 0;
  return "tenure-test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

std::vector<std::string> RunCommand(const std::string& name,
                                    const std::vector<std::string>& options,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> run = {
      "run", "--name=" + name, "--read-only", "--read-only-tmpfs=false", "--cap-drop=all",
      "--security-opt=no-new-privileges", "--network=host",
      // Without systemd, nothing would start the health check.
      "--health-interval=disable",
      // A machine may not allow cgroups or higher limits for containers.
      "--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"};
  run.insert(run.end(), options.begin(), options.end());
  run.push_back(ImageName());
  run.insert(run.end(), arguments.begin(), arguments.end());
  return Command(run);
}

std::string WithoutNewline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Finished Podman(const std::vector<std::string>& arguments) { return RunToEnd(Command(arguments)); }

std::filesystem::path MountImage() {
  const Finished mounted = Podman({"image", "mount", ImageName()});
  EXPECT_EQ(mounted.exit_code, 0) << mounted.errors;
  return WithoutNewline(mounted.output);
}

nlohmann::json ImageConfig() {
  const Finished inspected = Podman({"image", "inspect", ImageName()});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.errors;
  const auto image = nlohmann::json::parse(inspected.output).at(0);
  auto config = image.at("Config");
  config["Healthcheck"] = image.value("Healthcheck", nlohmann::json());
  return config;
}

Container::Container(const std::vector<std::string>& options,
                     const std::vector<std::string>& arguments)
    : name_(NextName()), process_(RunCommand(name_, options, arguments)) {}

Container::~Container() { Podman({"rm", "--force", "--time=0", name_}); }

std::string Container::ProgramPid() const {
  const Finished inspected = Podman({"inspect", "--format={{.State.Pid}}", name_});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.errors;
  return WithoutNewline(inspected.output);
}

std::string Container::Proc(const std::string& file) const {
  std::ifstream stream("/proc/" + ProgramPid() + "/" + file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

void Container::SignalProgram(int number) const { kill(std::stoi(ProgramPid()), number); }

int Container::CheckHealth() const { return Podman({"healthcheck", "run", name_}).exit_code; }

Finished RunContainer(const std::vector<std::string>& options,
                      const std::vector<std::string>& arguments) {
  Container container(options, arguments);
  const int exit_code = container.process().Wait();
  return {exit_code, container.process().Output(), container.process().Errors()};
}

}  // namespace tenure::testing
