#include "tls/serial.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tenure::tls {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate WithSerial(const char* hexadecimal) {
  Certificate certificate(X509_new(), &X509_free);
  BIGNUM* number = nullptr;
  BN_hex2bn(&number, hexadecimal);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  return certificate;
}

TEST(SerialTest, EqualNumbersHaveTheSameText) {
  for (const char* text : {"AB12", "ab12", "0xab12" + 2, "00:AB:12", "ab:12", "0000AB12"}) {
    EXPECT_EQ(NormalSerial(text), "AB12") << text;
  }
  EXPECT_EQ(NormalSerial("0"), "0");
  EXPECT_EQ(NormalSerial("00:00"), "0");
}

TEST(SerialTest, OtherTextIsNoSerial) {
  for (const std::string& text :
       {std::string(), std::string(":"), std::string("xyz"), std::string("0x12"), std::string("-1"),
        std::string("AB 12"), std::string(41, 'A')}) {
    EXPECT_EQ(NormalSerial(text), std::nullopt) << text;
  }
  EXPECT_EQ(NormalSerial(std::string(40, 'a')), std::string(40, 'A'));
}

TEST(SerialTest, TheSerialOfACertificateIsRead) {
  for (const char* text : {"1", "7F", "80", "AB12", "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"}) {
    EXPECT_EQ(SerialOf(WithSerial(text).get()), text);
  }
}

TEST(SerialTest, TextThatIsNotPemHasNoSerial) {
  EXPECT_EQ(SerialOfPem(""), std::nullopt);
  EXPECT_EQ(SerialOfPem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            std::nullopt);
}

TEST(SerialTest, OnlyTheLatestListIsDenied) {
  DenySerials({"AB12"});
  EXPECT_TRUE(IsDenied("AB12"));
  EXPECT_FALSE(IsDenied("AB13"));

  DenySerials({});
  EXPECT_FALSE(IsDenied("AB12"));
}

}  // namespace
}  // namespace tenure::tls
