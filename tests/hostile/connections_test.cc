// Who connects too often, or says too little. Rows 1 and 5 of what was found by attacking a
// replica.
#include "tests/hostile/hostile_fixture.h"

namespace tenure::testing {
namespace {

using ::testing::HasSubstr;

class HostileConnectionsTest : public HostileTest {};

TEST_F(HostileConnectionsTest, ConnectionsToGrpcThatSayNothing) {
  std::vector<Descriptor> connections = ConnectMany(Server().endpoint(), 1'100);

  EXPECT_EQ(Server().Get("/healthz").first, 200);
  EXPECT_THAT(Server().Get("/metrics").second,
              HasSubstr("tenure_connections_refused_total{limit=\"address\"}"));
  connections.clear();

  ExpectUnharmed();
}

TEST_F(HostileConnectionsTest, ConnectionsToHttpThatSayNothing) {
  std::vector<Descriptor> connections = ConnectMany(Server().http_endpoint(), 1'100);

  EXPECT_EQ(Server().Get("/healthz").first, 200);
  connections.clear();

  ExpectUnharmed();
}

TEST_F(HostileConnectionsTest, HttpClientsThatAreSlow) {
  std::vector<Descriptor> connections = ConnectMany(Server().http_endpoint(), 200);
  for (const Descriptor& connection : connections) Send(connection, "GET /metrics HTTP/1.1\r\nX: ");

  EXPECT_EQ(Server().Get("/healthz").first, 200);

  ExpectUnharmed();
}

TEST_F(HostileConnectionsTest, HeadersWithoutAnEnd) {
  Flood(Server().http_endpoint(), 2, "GET /metrics HTTP/1.1\r\n",
        "X: " + std::string(60'000, 'x') + "\r\n", 3s);

  ExpectUnharmed();
}

TEST_F(HostileConnectionsTest, ABodyWithoutAnEnd) {
  Flood(Server().http_endpoint(), 2, "POST /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "10000\r\n" + std::string(65'536, 'x') + "\r\n", 3s);

  ExpectUnharmed();
}

}  // namespace
}  // namespace tenure::testing
