// The image under test, and containers of it, by podman. scripts/test-image.sh says which image,
// and on which storage.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tenure::testing {

// `podman ARGUMENTS`, to its end.
Finished Podman(const std::vector<std::string>& arguments);

// Where the image's root file system can be read.
[[nodiscard]] std::filesystem::path MountImage();
// What the image says of itself, in Docker's terms: User, Env, Labels, …
[[nodiscard]] nlohmann::json ImageConfig();

// A container of the image. Its root is read-only; it has no capabilities, and no way to get any.
// It shares the network of the test, which keeps to loopback.
class Container {
 public:
  // `options` are podman's; `arguments` are for the program.
  Container(const std::vector<std::string>& options, const std::vector<std::string>& arguments);
  ~Container();
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  // podman, which passes on signals, output and the exit code.
  [[nodiscard]] Process& process() { return process_; }
  // A file of /proc about the program itself.
  [[nodiscard]] std::string Proc(const std::string& file) const;
  void SignalProgram(int number) const;  // not by way of podman
  // Runs the image's own health check, and returns its exit code.
  [[nodiscard]] int CheckHealth() const;

 private:
  [[nodiscard]] std::string ProgramPid() const;

  const std::string name_;
  Process process_;
};

// Runs a container to its end.
Finished RunContainer(const std::vector<std::string>& options,
                      const std::vector<std::string>& arguments);

}  // namespace tenure::testing
