#include "tests/polyglot/bad_days/player.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "tests/polyglot/bad_days/line.h"

namespace tenure::testing {
namespace {

// A library believes for nine tenths of its lease. `tenure run` then kills its command, which takes
// a moment: at most until the lease ends.
constexpr double kBelievesFor = 0.9;
constexpr double kCommandLivesFor = 1.0;

std::string Millis(std::chrono::milliseconds time) { return std::to_string(time.count()) + "ms"; }

std::string Quoted(const std::string& argument) { return "'" + argument + "'"; }

std::vector<std::string> CommandLine(const Language& language, const Stand& stand,
                                     const std::string& endpoints, const std::string& lingers) {
  if (!language.is_tenure_run) return language.command;
  const std::string& program = language.command.back();
  std::vector<std::string> command = {language.command.front(),
                                      "run",
                                      stand.election,
                                      "--endpoint",
                                      endpoints,
                                      "--candidate",
                                      stand.name,
                                      "--ttl",
                                      Millis(stand.lease),
                                      "--restart",
                                      "--on-elected",
                                      Quoted(program) + " leading",
                                      "--on-lost",
                                      Quoted(program) + " over"};
  if (stand.supersede) command.emplace_back("--supersede");
  command.insert(command.end(), {"--", program, "work", lingers});
  return command;
}

// A file of one number, which this process and the candidate share.
int64_t* Share(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool sized = ftruncate(file, sizeof(int64_t)) == 0;
  void* const shared = mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (!sized || shared == MAP_FAILED) throw std::system_error(errno, std::generic_category(), path);
  return static_cast<int64_t*>(shared);
}

}  // namespace

Player::Player(const Language& language, Witness& witness, Stand stand,
               const std::vector<int>& replica_ports)
    : language_(language),
      witness_(witness),
      stand_(std::move(stand)),
      known_(witness, {.process = stand_.process,
                       .name = stand_.name,
                       .believes_for = language.is_tenure_run ? kCommandLivesFor : kBelievesFor,
                       .may_be_killed = language.is_tenure_run}),
      wire_(witness, stand_.process, stand_.election, replica_ports, stand_.endpoints.kind) {
  const std::string clock = folder_.path() / "clock";
  clock_ahead_ns_ = Share(clock);
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (pipe2(input.data(), O_CLOEXEC) != 0 || pipe2(output.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  const std::string& wrong = stand_.endpoints.wrong;
  const std::string endpoints = wrong + (wrong.empty() ? "" : ",") + wire_.endpoints();
  std::vector<std::string> command =
      CommandLine(language, stand_, endpoints, folder_.path() / "lingers");
  if (stand_.endpoints.kind == Wire::Kind::kOneName) {
    WriteHosts();
    command = Host{.enter = EnterWithHostsFile(hosts_)}.CommandLine(std::move(command));
  }
  process_ = std::make_unique<Process>(
      std::move(command),
      std::map<std::string, std::string>{
          {"LD_PRELOAD", TENURE_STEPPED_CLOCK},
          {"TENURE_TEST_CLOCK", clock},
          {"GODEBUG", "netdns=cgo"}},  // Go itself remembers what /etc/hosts said
      Streams{.input = input[0], .output = output[1]});
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  listener_ = std::thread([this, from = output[0]] { Listen(from); });
  if (language.is_tenure_run) return;
  Tell(nlohmann::json{{"do", "stand"},
                      {"endpoints", endpoints},
                      {"election", stand_.election},
                      {"candidate", stand_.name},
                      {"lease_ms", stand_.lease.count()},
                      {"supersede", stand_.supersede}}
           .dump());
}

Player::~Player() {
  close(input_);
  if (process_->Running()) {
    process_->Signal(SIGKILL);
    process_->Wait();
  }
  listener_.join();
  munmap(clock_ahead_ns_, sizeof(int64_t));
}

void Player::Linger(bool lingers) {
  if (!language_.is_tenure_run) return Tell(lingers ? R"({"do":"linger"})" : R"({"do":"heed"})");
  const auto file = folder_.path() / "lingers";
  if (lingers) {
    std::ofstream{file};
  } else {
    std::filesystem::remove(file);
  }
}

void Player::Resign() {
  if (language_.is_tenure_run) {
    Signal(SIGUSR1);  // which is passed on to the command
  } else {
    Tell(R"({"do":"resign"})");
  }
}

void Player::StandAgain() {
  if (language_.is_tenure_run) return Resign();
  Tell(R"({"do":"stand again"})");
}

bool Player::Quit() {
  if (language_.is_tenure_run) {
    Signal(SIGTERM);
  } else {
    Tell(R"({"do":"quit"})");
  }
  if (!Eventually([&] { return !process_->Running(); })) return false;
  // `tenure run` ends as its command does, which a signal ends; if it has none, as not elected.
  return language_.is_tenure_run || process_->Wait() == EXIT_SUCCESS;
}

// In place: another file would not be seen through the mount.
void Player::WriteHosts() const { std::ofstream(hosts_) << wire_.hosts(); }

void Player::Move(size_t replica) {
  wire_.Move(replica);
  WriteHosts();
}

std::vector<std::string> Player::Warnings() const {
  std::vector<std::string> warnings;
  std::istringstream errors(process_->Errors());
  for (std::string line; std::getline(errors, line);) {
    const size_t start = line.find("cannot use ");
    if (start != std::string::npos) warnings.push_back(line.substr(start));
  }
  return warnings;
}

void Player::MoveClock(std::chrono::seconds by) {
  __atomic_add_fetch(clock_ahead_ns_, std::chrono::nanoseconds(by).count(), __ATOMIC_RELAXED);
}

void Player::Tell(const std::string& line) const {
  // Shorter than PIPE_BUF. The process may have ended.
  [[maybe_unused]] const ssize_t written = write(input_, (line + "\n").data(), line.size() + 1);
}

void Player::Listen(int output) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t size = 0; (size = read(output, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<size_t>(size));
    for (size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      try {
        witness_.Hear(stand_.process, ParseLine(text.substr(0, end)));
      } catch (const std::invalid_argument& error) {
        witness_.Accuse(stand_.process + " says " + error.what());
      }
    }
  }
  close(output);
}

}  // namespace tenure::testing
