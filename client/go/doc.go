// Package tenure elects leaders: of all the processes that stand in an election, exactly one leads, in
// a term whose number only ever rises. It is the client library of a Tenure service.
//
//	client, err := tenure.NewClient(tenure.ClientOptions{Endpoints: "tenure-0:7070,tenure-1:7070"})
//	elector, err := tenure.NewElector(client, tenure.ElectorOptions{Election: "orders"})
//	err = elector.Run(ctx, func(ctx context.Context, seat tenure.Seat) error {
//		for ctx.Err() == nil {
//			shipTheNextOrder(seat.Term)
//		}
//		return nil
//	})
//
// # What it promises
//
//   - An elector stands until it is asked to stop: it campaigns, waits, and campaigns again after each
//     term and after every failure.
//   - [Elector.IsLeader] is true only until this process's own deadline. The deadline is counted from
//     before the last answered renewal was sent, minus a tenth of the lease for clock drift. The service
//     elects nobody else before then, unless an operator intervenes. Once it was false in a term, it is
//     never true in that term again.
//   - The context of the work ends before that deadline, early enough for the work to stop. The seat is
//     resigned when the work has returned, never before.
//   - A slow renewal is not a loss: the seat is lost only with the lease. The clock runs on while the
//     machine sleeps.
//
// # What it does not promise
//
// A process that is paused between asking and acting acts too late. Whatever must never be done by two
// leaders must carry the term, and the resource must refuse any term lower than the highest it has
// seen: [TermGuard] does so for gRPC services, and package tenure/sqlfence for MySQL and MariaDB.
package tenure
