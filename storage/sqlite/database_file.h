// The files behind a connection to SQLite, and whether they are still the ones that their names
// lead to.
//
// SQLite keeps using a file that was removed, moved away or replaced. Nobody else can open that
// file, so a replica that is started on the path would lead beside this one. The same holds for the
// write-ahead log and its index, and for a file that has two names.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

struct sqlite3;

namespace tenure::sqlite {

// Creates the file, unless it exists, so that only its owner can read it: it will hold the ids of
// sessions, which are secrets. SQLite gives the files beside it the same mode.
void MakePrivate(const std::string& path);
// Takes away other users' rights to the existing files. REQUIRES: the file is Tenure's.
void KeepPrivate(const std::string& path);

// Owned by one connection.
class DatabaseFile {
 public:
  // REQUIRES: the connection is open and has read something, so that all files exist.
  DatabaseFile(const std::string& path, sqlite3* connection);

  // Why the names no longer lead to the open files, and what to do. Nothing if they do.
  [[nodiscard]] std::optional<std::string> Fault() const;

  // Whether two connections have the same files open.
  bool operator==(const DatabaseFile& other) const;

 private:
  struct Identity {
    dev_t device;
    ino_t inode;
    bool operator==(const Identity&) const = default;
  };
  struct Named {
    std::string path;
    std::optional<Identity> opened;  // nothing: there was none
    bool operator==(const Named&) const = default;
  };
  [[nodiscard]] static std::optional<Identity> IdentityOf(const std::string& path);
  [[nodiscard]] static std::optional<std::string> FaultOf(const Named& file);

  Named main_;
  Named log_;
  Named index_;
  bool was_moved_ = false;  // before the connection was set up
};

}  // namespace tenure::sqlite
