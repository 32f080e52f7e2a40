#include "storage/mysql/login_gate.h"

#include <mysql.h>
#include <mysql/plugin_auth.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "storage/mysql/error.h"

namespace tenure::mysql {
namespace {

constexpr char kName[] = "tenure_login_gate";
// The protocol's byte for a switch to another plugin.
constexpr unsigned char kSwitch = 0xfe;
constexpr char kCachingSha2[] = "caching_sha2_password";
// The plugins that prove that the client knows the password without sending it.
constexpr std::string_view kProofs =
    "mysql_native_password,caching_sha2_password,client_ed25519,parsec";
// Those that send it, in clear text or encrypted with any key that the server sends.
constexpr std::string_view kSenders = "sha256_password,mysql_clear_password,dialog";

// Of caching_sha2_password.
constexpr int kNonceBytes = 20;
constexpr unsigned char kProven = 3;
constexpr unsigned char kSendPassword = 4;

// As in mysql/client_plugin.h, which includes a header that Debian 12 does not package.
constexpr int kAuthenticationPlugin = 2;
constexpr unsigned kInterfaceVersion = 0x0100;
struct AuthenticationPlugin {
  st_mysql_client_plugin header;
  int (*authenticate)(MYSQL_PLUGIN_VIO*, MYSQL*);
};

thread_local LoginGate* current = nullptr;

std::string Sha256(std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
             EVP_sha256(), nullptr);
  digest.resize(size);
  return digest;
}

// XOR(SHA256(password), SHA256(SHA256(SHA256(password)) + nonce))
std::string Sha2Proof(const std::string& password, const std::string& nonce) {
  std::string proof = Sha256(password);
  const std::string mask = Sha256(Sha256(proof) + nonce);
  for (size_t i = 0; i < proof.size(); ++i) proof[i] = static_cast<char>(proof[i] ^ mask[i]);
  return proof;
}

// Whether nobody on the way can read what is sent.
bool IsPrivate(MYSQL_PLUGIN_VIO* vio, MYSQL* mysql) {
  MYSQL_PLUGIN_VIO_INFO info{};
  vio->info(vio, &info);
  return mysql_get_ssl_cipher(mysql) != nullptr || info.protocol == info.MYSQL_VIO_SOCKET;
}

int Write(MYSQL_PLUGIN_VIO* vio, const char* bytes, size_t size) {
  const int failed =
      vio->write_packet(vio, reinterpret_cast<const unsigned char*>(bytes), static_cast<int>(size));
  return failed != 0 ? CR_ERROR : CR_OK;
}

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
    if (gate->tls_required_ && mysql_get_ssl_cipher(mysql) == nullptr) {
      gate->refusal_ = "the connection is not encrypted";
      return CR_ERROR;
    }
    gate->passed_ = true;
    std::string allowed(kProofs);
    if (IsPrivate(vio, mysql)) {
      allowed.append(",").append(kSenders);
    } else if (packet != nullptr && packet[0] == kSwitch) {
      const std::string_view next = reinterpret_cast<const char*>(packet) + 1;  // ends with NUL
      if (!next.empty() && kSenders.find(next) != kSenders.npos) gate->RefusePlugin(next);
    }
    mysql_optionsv(mysql, MARIADB_OPT_RESTRICTED_AUTH, allowed.c_str());
    return length > 0 && packet[0] == 0 ? CR_OK_HANDSHAKE_COMPLETE : CR_ERROR;
  }

  // Replaces the client library's caching_sha2_password, which sends the password in clear text if
  // TLS was requested and the server does not offer it.
  static int ProveBySha2(MYSQL_PLUGIN_VIO* vio, MYSQL* mysql) {
    unsigned char* packet = nullptr;
    if (vio->read_packet(vio, &packet) != kNonceBytes + 1) return CR_ERROR;
    const std::string nonce(reinterpret_cast<const char*>(packet), kNonceBytes);
    const std::string password = mysql->passwd == nullptr ? "" : mysql->passwd;
    if (password.empty()) return Write(vio, nullptr, 0);
    const std::string proof = Sha2Proof(password, nonce);
    if (Write(vio, proof.data(), proof.size()) != CR_OK) return CR_ERROR;
    if (vio->read_packet(vio, &packet) != 1) return CR_ERROR;
    if (packet[0] == kProven) return CR_OK;
    if (packet[0] != kSendPassword) return CR_ERROR;
    if (!IsPrivate(vio, mysql)) {
      if (current != nullptr) current->RefusePlugin(kCachingSha2);
      return CR_ERROR;
    }
    return Write(vio, password.c_str(), password.size() + 1);
  }

  static AuthenticationPlugin Plugin(const char* name,
                                     int (*authenticate)(MYSQL_PLUGIN_VIO*, MYSQL*)) {
    AuthenticationPlugin plugin = {};
    plugin.header.type = kAuthenticationPlugin;
    plugin.header.interface_version = kInterfaceVersion;
    plugin.header.name = name;
    plugin.header.author = "Tenure";
    plugin.header.desc = "No password without TLS";
    plugin.header.license = "Apache-2.0";
    plugin.authenticate = authenticate;
    return plugin;
  }

  static const std::string& Register() {
    static const std::string file = [] {
      static AuthenticationPlugin plugins[] = {Plugin(kName, Authenticate),
                                               Plugin(kCachingSha2, ProveBySha2)};
      MYSQL* const library = mysql_init(nullptr);
      const bool registered =
          library != nullptr && std::ranges::all_of(plugins, [&](AuthenticationPlugin& plugin) {
            return mysql_client_register_plugin(library, &plugin.header) != nullptr;
          });
      if (library != nullptr) mysql_close(library);
      if (!registered)
        throw MySqlError(MySqlError::Kind::kAway, 0, "the client library takes no plugin");

      const std::string options = std::string("[client]\nlocal-infile=0\ndefault-auth=") + kName +
                                  "\nrestricted-auth=" + kName + "\n";
      const int descriptor = memfd_create(kName, MFD_CLOEXEC);
      const auto written = write(descriptor, options.data(), options.size());
      if (written != static_cast<ssize_t>(options.size())) {
        throw MySqlError(MySqlError::Kind::kAway, 0, "cannot keep the options of logins in memory");
      }
      return "/proc/self/fd/" + std::to_string(descriptor);
    }();
    return file;
  }
};

const std::string& LoginGate::OptionFile() { return GatePlugin::Register(); }

LoginGate::LoginGate(bool tls_required) : tls_required_(tls_required) { current = this; }

void LoginGate::RefusePlugin(std::string_view name) {
  refusal_ = "it asks for the password by " + std::string(name) + ", which is not sent without TLS";
}

LoginGate::~LoginGate() { current = nullptr; }

}  // namespace tenure::mysql
