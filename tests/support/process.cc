#include "tests/support/process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tenure::testing {
namespace {

constexpr auto kPollInterval = 2ms;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void Redirect(const char* path, int descriptor) {
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  dup2(file, descriptor);
}

void TakeTerminal(int terminal) {
  setsid();
  ioctl(terminal, TIOCSCTTY, 0);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(terminal, descriptor);
  }
}

// Below the ports that Linux gives to outgoing connections and to listeners on port 0.
constexpr int kFirstPort = 20'000;
constexpr int kPortEnd = 32'000;

// Reserves a port for as long as this process lives, among all tests that share its network. The
// mark is an abstract socket: the kernel removes it, however the process ends.
bool Reserve(int port) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string name = "tenure-test-port-" + std::to_string(port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const bool reserved = bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0;
  if (!reserved) close(descriptor);
  return reserved;
}

bool NobodyListens(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool free = bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return free;
}

}  // namespace

bool Eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

std::vector<std::string> Host::CommandLine(std::vector<std::string> command) const {
  command.insert(command.begin(), enter.begin(), enter.end());
  return command;
}

std::vector<std::string> EnterWithHostsFile(const std::string& path) {
  std::vector<std::string> enter = {"unshare", "--mount"};
  if (geteuid() != 0) enter.emplace_back("--map-root-user");
  enter.insert(enter.end(), {"sh", "-c", R"(mount --bind "$0" /etc/hosts && exec "$@")", path});
  return enter;
}

TempDir::TempDir(const std::filesystem::path& parent) {
  std::string pattern = (parent / "tenure-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int FreePort() {
  static std::mutex mutex;
  static int port = kFirstPort + static_cast<int>(std::random_device()() % (kPortEnd - kFirstPort));
  const std::lock_guard lock(mutex);
  for (int tries = 0; tries < kPortEnd - kFirstPort; ++tries) {
    port = port + 1 < kPortEnd ? port + 1 : kFirstPort;
    if (Reserve(port) && NobodyListens(port)) return port;
  }
  throw std::runtime_error("no port of 127.0.0.1 is free");
}

Process::Process(std::vector<std::string> command, std::map<std::string, std::string> environment,
                 Streams streams) {
  // All that needs memory is made before the fork: other threads may hold the allocator's lock.
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const size_t end = variable.find('=');
    environment.emplace(variable.substr(0, end), variable.substr(end + 1));
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const std::vector<char*> arguments = Pointers(command);
  const std::vector<char*> variable_pointers = Pointers(variables);
  const std::string out = files_.path() / "out";
  const std::string err = files_.path() / "err";
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ != 0) return;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  if (streams.terminal >= 0) {
    TakeTerminal(streams.terminal);
  } else {
    Redirect(out.c_str(), STDOUT_FILENO);
    Redirect(err.c_str(), STDERR_FILENO);
  }
  if (streams.input >= 0) dup2(streams.input, STDIN_FILENO);
  if (streams.output >= 0) dup2(streams.output, STDOUT_FILENO);
  execvpe(arguments[0], arguments.data(), variable_pointers.data());
  _exit(127);
}

Process::~Process() {
  if (!Running()) return;
  Signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Process::Signal(int number) const {
  kill(pid_, number);
  if (number != SIGSTOP) return;
  siginfo_t info;  // threads stop one after the other: wait until all have
  waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT);
}

bool Process::Running() {
  if (exit_code_) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return false;
}

int Process::Wait(std::chrono::milliseconds patience) {
  if (!Eventually([&] { return !Running(); }, patience)) {
    ADD_FAILURE() << "the process does not end; it wrote:\n" << Output() << Errors();
    return -1;
  }
  return *exit_code_;
}

double Process::ResidentBytes() const {
  constexpr std::string_view kField = "VmRSS:";
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kField)) return std::stod(line.substr(kField.size())) * 1024;
  }
  throw std::runtime_error("process " + std::to_string(pid_) + " is gone");
}

size_t Process::Descriptors() const {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid_) + "/fd", error);
  if (error) throw std::runtime_error("process " + std::to_string(pid_) + " is gone");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

std::string Process::Output() const { return ReadFile(files_.path() / "out"); }

std::string Process::Errors() const { return ReadFile(files_.path() / "err"); }

std::vector<std::string> Process::Lines() const {
  std::vector<std::string> lines;
  std::string text = Output();
  text.resize(text.find_last_of('\n') + 1);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string Process::Line(size_t number) {
  const auto written = [&] { return Lines().size() >= number; };
  if (!Eventually([&] { return written() || !Running(); }) || !written()) {
    ADD_FAILURE() << "line " << number << " is missing; the process wrote:\n"
                  << Output() << Errors();
    return "";
  }
  return Lines()[number - 1];
}

Finished RunToEnd(std::vector<std::string> command, std::map<std::string, std::string> environment,
                  std::chrono::milliseconds patience) {
  Process process(std::move(command), std::move(environment));
  const int exit_code = process.Wait(patience);
  return {exit_code, process.Output(), process.Errors()};
}

}  // namespace tenure::testing
