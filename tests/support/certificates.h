// A certificate authority for tests, and what it signs.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace tenure::testing {

// PEM.
struct KeyPair {
  std::string certificate;
  std::string key;
};

class CertificateAuthority {
 public:
  // `constraints`: on the names in what it signs, in OpenSSL's notation.
  explicit CertificateAuthority(const std::string& name, const std::string& constraints = "");
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  // Its own certificate, in PEM.
  [[nodiscard]] std::string certificate() const;
  // For CN=`name`, with `san` in OpenSSL's notation ("DNS:a,IP:127.0.0.1,URI:spiffe://b/c"; empty:
  // none), valid for this long from now; it may be over already.
  [[nodiscard]] KeyPair Issue(const std::string& name, const std::string& san,
                              std::chrono::seconds valid_for = std::chrono::hours(1)) const;

 private:
  struct Holder;
  const std::unique_ptr<Holder> holder_;
};

// Puts all files of a folder in place at once, as Kubernetes does with a Secret: `link` leads to
// the new folder from one moment to the next.
void PublishFiles(const std::filesystem::path& link,
                  const std::map<std::string, std::string>& files);

}  // namespace tenure::testing
