#include "storage/mysql/login_gate.h"

#include <mysql.h>
#include <mysql/plugin_auth.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>

namespace tenure::mysql {
namespace {

constexpr char kName[] = "tenure_login_gate";
// These prove that the client knows the password, and do not show it, or show it only encrypted.
constexpr char kWithoutTls[] =
    "mysql_native_password,caching_sha2_password,sha256_password,client_ed25519,parsec";
constexpr char kWithTls[] =
    "mysql_native_password,caching_sha2_password,sha256_password,client_ed25519,parsec,"
    "mysql_clear_password,dialog";

// As in mysql/client_plugin.h, which includes a header that Debian 12 does not package.
constexpr int kAuthenticationPlugin = 2;
constexpr unsigned kInterfaceVersion = 0x0100;
struct AuthenticationPlugin {
  st_mysql_client_plugin header;
  int (*authenticate)(MYSQL_PLUGIN_VIO*, MYSQL*);
};

thread_local LoginGate* current = nullptr;

}  // namespace

struct GatePlugin {
  static int Authenticate(MYSQL_PLUGIN_VIO* vio, MYSQL* mysql) {
    LoginGate* const gate = current;
    if (gate == nullptr) return CR_ERROR;
    const bool offers_tls = (mysql->server_capabilities & CLIENT_SSL) != 0;
    if (gate->tls_required_ && !offers_tls) {
      gate->refusal_ = "it does not offer TLS";
      return CR_ERROR;
    }
    // Begins TLS, sends the user's name, and reads which plugin the account needs, if any.
    unsigned char* packet = nullptr;
    const int length = vio->read_packet(vio, &packet);
    if (length < 0 && mysql_errno(mysql) != 0) return CR_ERROR;
    const bool encrypted = mysql_get_ssl_cipher(mysql) != nullptr;
    if (gate->tls_required_ && !encrypted) {
      gate->refusal_ = "the connection is not encrypted";
      return CR_ERROR;
    }
    mysql_optionsv(mysql, MARIADB_OPT_RESTRICTED_AUTH, encrypted ? kWithTls : kWithoutTls);
    return length > 0 && packet[0] == 0 ? CR_OK_HANDSHAKE_COMPLETE : CR_ERROR;
  }

  // Nothing if that fails.
  static const std::string& Register() {
    static const std::string file = [] {
      static AuthenticationPlugin plugin = {};
      plugin.header.type = kAuthenticationPlugin;
      plugin.header.interface_version = kInterfaceVersion;
      plugin.header.name = kName;
      plugin.header.author = "Tenure";
      plugin.header.desc = "No password without TLS";
      plugin.header.license = "Apache-2.0";
      plugin.authenticate = Authenticate;
      MYSQL* const library = mysql_init(nullptr);
      const bool registered =
          library != nullptr && mysql_client_register_plugin(library, &plugin.header) != nullptr;
      if (library != nullptr) mysql_close(library);
      if (!registered) throw std::runtime_error("the client library takes no plugin");

      const std::string options =
          std::string("[client]\ndefault-auth=") + kName + "\nrestricted-auth=" + kName + "\n";
      const int descriptor = memfd_create(kName, MFD_CLOEXEC);
      const auto written = write(descriptor, options.data(), options.size());
      if (written != static_cast<ssize_t>(options.size())) {
        throw std::runtime_error("cannot keep the options of logins in memory");
      }
      return "/proc/self/fd/" + std::to_string(descriptor);
    }();
    return file;
  }
};

const std::string& LoginGate::OptionFile() { return GatePlugin::Register(); }

LoginGate::LoginGate(bool tls_required) : tls_required_(tls_required) { current = this; }

LoginGate::~LoginGate() { current = nullptr; }

}  // namespace tenure::mysql
