#include "tls/pem_files.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace tenure::tls {
namespace {

class PemFilesTest : public ::testing::Test {
 protected:
  PemFilesTest() {
    std::filesystem::create_directories(folder_);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 60);
    X509_set_pubkey(certificate.get(), key.get());
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    Write("certificate", [&](BIO* file) { PEM_write_bio_X509(file, certificate.get()); });
    Write("trusted", [&](BIO* file) { PEM_write_bio_X509_AUX(file, certificate.get()); });
    Write("key", [&](BIO* file) {
      PEM_write_bio_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    Write("locked_key", [&](BIO* file) {
      PEM_write_bio_PrivateKey(file, key.get(), EVP_aes_128_cbc(), nullptr, 0, nullptr,
                               const_cast<char*>("password"));
    });
    std::ofstream(Path("nonsense")) << "nonsense\n";
    std::ofstream(Path("empty")).flush();
    std::ofstream(Path("commented")) << "A comment\n" << std::ifstream(Path("certificate")).rdbuf();
  }
  ~PemFilesTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string Path(const std::string& name) const { return folder_ / name; }

 private:
  template <typename Fill>
  void Write(const std::string& name, Fill fill) {
    BIO* const file = BIO_new_file(Path(name).c_str(), "w");
    fill(file);
    BIO_free(file);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("pem_files_test." + std::to_string(getpid()));
};

TEST_F(PemFilesTest, AFileWithACertificateIsFine) {
  for (const char* name : {"certificate", "trusted", "commented"})
    EXPECT_EQ(FaultOfCertificates(Path(name)), std::nullopt) << name;
}

TEST_F(PemFilesTest, AFileWithoutACertificateIsNamed) {
  for (const std::string& path :
       {Path("empty"), Path("nonsense"), Path("key"), Path(""), std::string("/dev/null")})
    EXPECT_EQ(FaultOfCertificates(path), path + " holds no certificate");
}

TEST_F(PemFilesTest, AFileWithoutAKeyIsNamed) {
  EXPECT_EQ(FaultOfKey(Path("key")), std::nullopt);
  for (const std::string& path :
       {Path("certificate"), Path("locked_key"), Path("empty"), std::string("/dev/null")})
    EXPECT_EQ(FaultOfKey(path), path + " holds no private key without a password");
}

TEST_F(PemFilesTest, AFileThatCannotBeReadIsNamed) {
  EXPECT_EQ(FaultOfCertificates(Path("nowhere")), "cannot read " + Path("nowhere"));
  EXPECT_EQ(FaultOfKey(Path("nowhere")), "cannot read " + Path("nowhere"));
}

// Otherwise the TLS library would find it empty.
TEST_F(PemFilesTest, APipeIsNotRead) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);

  EXPECT_EQ(FaultOfCertificates(Path("pipe")),
            Path("pipe") + " is a pipe; use a file, since it is read more than once");
}

}  // namespace
}  // namespace tenure::tls
