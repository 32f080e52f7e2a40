#include "storage/sqlite/database_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tenure::sqlite {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
constexpr char kLog[] = "-wal";
constexpr char kIndex[] = "-shm";

std::string Quoted(const std::string& path) { return "'" + path + "'"; }

std::string WhatToDo() {
  return "; nothing is served from it. Put the file back, or restart tenured to use what is there";
}

}  // namespace

void MakePrivate(const std::string& path) {
  // Nobody in this process can have the new file open: closing it releases no lock of SQLite's.
  const int made = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (made >= 0) close(made);
}

void KeepPrivate(const std::string& path) {
  for (const char* suffix : {"", kLog, kIndex}) {
    struct stat status {};
    const std::string file = path + suffix;
    const bool open_to_others =
        stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0077) != 0;
    if (open_to_others) (void)chmod(file.c_str(), status.st_mode & S_IRWXU);
  }
}

DatabaseFile::DatabaseFile(const std::string& path, sqlite3* connection) {
  const std::string real = sqlite3_db_filename(connection, "main");  // as it was opened
  std::error_code ignored;
  main_.path = std::filesystem::absolute(path, ignored).string();
  log_.path = real + kLog;
  index_.path = real + kIndex;
  for (Named* file : {&main_, &log_, &index_}) file->opened = IdentityOf(file->path);
  int moved = 0;
  (void)sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  was_moved_ = moved != 0 || !main_.opened || main_.opened != IdentityOf(real);
}

std::optional<std::string> DatabaseFile::Fault() const {
  if (was_moved_) {
    return "the file " + Quoted(main_.path) + " was replaced while it was being opened" +
           WhatToDo();
  }
  struct stat status {};
  const bool linked = stat(main_.path.c_str(), &status) == 0 && status.st_nlink > 1;
  if (linked) {
    return "the file " + Quoted(main_.path) + " has " + std::to_string(status.st_nlink) +
           " names (hard links): a replica that opens it by another name would lead beside this "
           "one. Nothing is served from it until the other names are removed";
  }
  for (const Named* file : {&main_, &log_, &index_}) {
    if (auto fault = FaultOf(*file)) return fault;
  }
  return std::nullopt;
}

std::optional<DatabaseFile::Identity> DatabaseFile::IdentityOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

std::optional<std::string> DatabaseFile::FaultOf(const Named& file) {
  if (!file.opened) return std::nullopt;
  const auto now = IdentityOf(file.path);
  if (now == file.opened) return std::nullopt;
  const std::string name = "the file " + Quoted(file.path);
  if (now)
    return name + " is not the one that is open: another one has taken its place" + WhatToDo();
  const std::string why = errno == ENOENT ? " was removed or moved away while it was open"
                                          : std::string(" cannot be found: ") + strerror(errno);
  return name + why + WhatToDo();
}

bool DatabaseFile::operator==(const DatabaseFile& other) const {
  return main_ == other.main_ && log_ == other.log_ && index_ == other.index_;
}

}  // namespace tenure::sqlite
