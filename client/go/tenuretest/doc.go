// Package tenuretest has a Tenure for tests of your own code: in memory, in this process, and with a clock
// that the test moves.
//
//	func TestOrdersShipWhileThisProcessLeads(t *testing.T) {
//		service := tenuretest.NewService(t)
//		client := service.Client("host-1")
//		go ship(ctx, client)               // your code, on the real library
//
//		service.AwaitLeader("orders", "host-1")
//		service.Cut("host-1")              // it cannot reach the service any more
//		service.Advance(10 * time.Second)  // its lease ends, in no time
//		// your code has stopped to ship
//	}
//
// The clients are those of the library, and talk to the service by gRPC over the loopback interface. Only
// the time is not real: leases, pauses and renewals go by the service's clock, which stands until Advance.
//
// What it does: campaigns with queues, priorities and Supersede, renewals, resignations, observers and
// caches, and the operator's Depose and Appoint. What it does not do: several elections together, TLS,
// policies, trimmed history, and everything that only a database can do to you. It is no service for
// production, and no proof that a program survives one: for that, run tenured.
package tenuretest
