#include "tls/peer_certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include <memory>

namespace tenure::tls {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

// With alternative names in OpenSSL's notation; "DER:" and hexadecimal digits are any bytes.
Certificate WithNames(const std::string& names) {
  Certificate certificate(X509_new(), &X509_free);
  X509V3_CTX context;
  X509V3_set_ctx(&context, nullptr, certificate.get(), nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, names.c_str());
  EXPECT_NE(extension, nullptr) << names;
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  return certificate;
}

Certificate WithSubject(int type, const std::string& bytes) {
  Certificate certificate(X509_new(), &X509_free);
  X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, type,
                             reinterpret_cast<const unsigned char*>(bytes.data()),
                             static_cast<int>(bytes.size()), -1, 0);
  return certificate;
}

std::optional<std::string> FaultOfNames(const std::string& names) {
  return FaultOf(WithNames(names).get());
}

std::string Repeat(const std::string& name, int count) {
  std::string all = name;
  for (int i = 1; i < count; ++i) all += "," + name;
  return all;
}

TEST(PeerCertificatesTest, UsualNamesAreAccepted) {
  EXPECT_EQ(FaultOf(Certificate(X509_new(), &X509_free).get()), std::nullopt);
  EXPECT_EQ(FaultOfNames("DNS:a.b,DNS:*.c,IP:127.0.0.1,IP:::1,URI:spiffe://a/b,email:a@b"),
            std::nullopt);
  EXPECT_EQ(FaultOfNames("RID:1.2.3,otherName:1.2.3;UTF8:x"), std::nullopt);
  EXPECT_EQ(FaultOf(WithSubject(V_ASN1_UTF8STRING, "Jürgen").get()), std::nullopt);
  EXPECT_EQ(FaultOf(WithSubject(V_ASN1_BMPSTRING, std::string("\0a\0b", 4)).get()), std::nullopt);
}

TEST(PeerCertificatesTest, AnIpAddressHas4Or16Bytes) {
  EXPECT_EQ(FaultOfNames("DER:30:06:87:04:01:02:03:04"), std::nullopt);

  EXPECT_THAT(FaultOfNames("DER:30:02:87:00"), Optional(HasSubstr("an IP address of 0 bytes")));
  EXPECT_THAT(FaultOfNames("DER:30:05:87:03:01:02:03"), Optional(HasSubstr("of 3 bytes")));
  EXPECT_THAT(FaultOfNames("DER:30:07:87:05:01:02:03:04:05"), Optional(HasSubstr("of 5 bytes")));
  // An address and its mask, as name constraints have it.
  EXPECT_THAT(FaultOfNames("DER:30:0A:87:08:01:02:03:04:05:06:07:08"),
              Optional(HasSubstr("of 8 bytes")));
  EXPECT_THAT(FaultOfNames("DER:30:13:87:11:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:01"),
              Optional(HasSubstr("of 17 bytes")));
  // After a valid name.
  EXPECT_THAT(FaultOfNames("DER:30:0A:82:01:61:87:05:01:02:03:04:05"),
              Optional(HasSubstr("of 5 bytes")));
}

TEST(PeerCertificatesTest, NamesAreTextAndNotEmpty) {
  EXPECT_THAT(FaultOfNames("DER:30:05:82:03:61:00:62"), Optional(HasSubstr("not text")));
  EXPECT_THAT(FaultOfNames("DER:30:05:81:03:61:00:62"), Optional(HasSubstr("not text")));
  EXPECT_THAT(FaultOfNames("DER:30:05:86:03:61:00:62"), Optional(HasSubstr("not text")));
  for (const char* empty : {"DER:30:02:82:00", "DER:30:02:81:00", "DER:30:02:86:00"})
    EXPECT_THAT(FaultOfNames(empty), Optional(HasSubstr("empty"))) << empty;
}

TEST(PeerCertificatesTest, TheSubjectIsText) {
  // OpenSSL itself rejects half a character.
  EXPECT_THAT(FaultOf(WithSubject(V_ASN1_UTF8STRING, std::string("a\0b", 3)).get()),
              Optional(HasSubstr("subject")));
  EXPECT_THAT(FaultOf(WithSubject(V_ASN1_UTF8STRING, "\xff").get()),
              Optional(HasSubstr("subject")));
}

TEST(PeerCertificatesTest, MalformedAlternativeNamesAreRefused) {
  EXPECT_THAT(FaultOfNames("DER:30:05:82"), Optional(HasSubstr("malformed")));
  const Certificate twice = WithNames("DNS:a");
  X509_add_ext(twice.get(), X509_get_ext(twice.get(), 0), -1);
  EXPECT_THAT(FaultOf(twice.get()), Optional(HasSubstr("twice")));
}

TEST(PeerCertificatesTest, TheNumberOfAlternativeNamesCanBeLimited) {
  const Certificate many = WithNames(Repeat("DNS:a", kAlternativeNamesMax));
  const Certificate more = WithNames(Repeat("DNS:a", kAlternativeNamesMax + 1));

  EXPECT_EQ(FaultOf(many.get(), kAlternativeNamesMax), std::nullopt);
  EXPECT_THAT(FaultOf(more.get(), kAlternativeNamesMax),
              Optional(HasSubstr("257 alternative names")));
  EXPECT_EQ(FaultOf(more.get()), std::nullopt);
}

}  // namespace
}  // namespace tenure::tls
