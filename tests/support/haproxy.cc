#include "tests/support/haproxy.h"

#include <fstream>

namespace tenure::testing {

HaProxy::HaProxy(const std::vector<std::string>& servers) : port_(FreePort()) {
  const std::string file = folder_.path() / "haproxy.cfg";
  std::ofstream config(file);
  config << "defaults\n  mode tcp\n  timeout connect 2s\n  timeout client 1h\n  timeout server 1h\n"
         << "listen database\n  bind :" << port_ << "\n  option tcp-check\n"
         << "  default-server inter 500ms fall 2 rise 2 on-marked-down shutdown-sessions\n";
  for (size_t i = 0; i < servers.size(); ++i) {
    config << "  server n" << i << " " << servers[i] << " check" << (i > 0 ? " backup" : "")
           << "\n";
  }
  config.close();
  process_ =
      std::make_unique<Process>(std::vector<std::string>{"/usr/sbin/haproxy", "-db", "-f", file});
}

}  // namespace tenure::testing
