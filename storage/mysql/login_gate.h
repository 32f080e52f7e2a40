// Guards the password in every login.
//
// The client library sends a password in any way that the server asks for, over any connection that
// it offers; whether TLS is used can be seen only afterwards. So all logins begin with an
// authentication plugin of Tenure's, which sends no password: it refuses a connection without TLS
// where TLS is required, and says which plugins may come next. The password itself is sent only
// over TLS or a local socket, also by caching_sha2_password, for which Tenure has a plugin of its
// own.
#pragma once

#include <string>
#include <string_view>

namespace tenure::mysql {

// The gate of one login. Lives while the driver connects, on the same thread.
class LoginGate {
 public:
  explicit LoginGate(bool tls_required);
  ~LoginGate();
  LoginGate(const LoginGate&) = delete;
  LoginGate& operator=(const LoginGate&) = delete;

  // A file of options that makes the client library use the gate. The library ignores a file that
  // it cannot read. Lives as long as the process. Throws MySqlError.
  [[nodiscard]] static const std::string& OptionFile();

  // The client library has asked the gate, which let the login go on: the connection is encrypted
  // if it has to be.
  [[nodiscard]] bool passed() const { return passed_; }
  // Why the login went no further; empty if the gate was passed.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  friend struct GatePlugin;

  void RefusePlugin(std::string_view name);

  const bool tls_required_;
  bool passed_ = false;
  std::string refusal_;
};

}  // namespace tenure::mysql
