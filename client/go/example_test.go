package tenure_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"google.golang.org/grpc"

	"tenure"
	pb "tenure/v1"
)

func shipTheNextOrder(term uint64) {}

// Work that runs while this process leads.
func ExampleElector_Run() {
	client, err := tenure.NewClient(tenure.ClientOptions{Endpoints: "tenure-0:7070,tenure-1:7070", LeaseTTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	elector, err := tenure.NewElector(client, tenure.ElectorOptions{
		Election: "orders",
		OnLost:   func(seat tenure.Seat, cause pb.Cause) { log.Print("term ", seat.Term, " is over: ", cause) },
	})
	if err != nil {
		log.Fatal(err)
	}
	err = elector.Run(context.Background(), func(ctx context.Context, seat tenure.Seat) error {
		for ctx.Err() == nil {
			shipTheNextOrder(seat.Term)
		}
		return nil
	})
	log.Print(err)
}

// A program with its own loop asks instead of being called.
func ExampleElector_Stand() {
	client, err := tenure.NewClient(tenure.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	elector, err := tenure.NewElector(client, tenure.ElectorOptions{Election: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	if err := elector.Stand(); err != nil {
		log.Fatal(err)
	}
	for range time.Tick(time.Second) {
		if term := elector.Term(); term != 0 {
			shipTheNextOrder(term)
		}
	}
}

// Find out who leads, without standing.
func ExampleLeaderCache() {
	leaders, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{Names: []string{"shards/"}, Prefix: true})
	if err != nil {
		log.Fatal(err)
	}
	defer leaders.Close()
	if err := leaders.WaitUntilReady(context.Background()); err != nil {
		log.Fatal(err)
	}
	if seat := leaders.Get("shards/7"); seat.Leader != nil {
		fmt.Println(string(seat.Leader.GetValue()), seat.Term)
	}
}

// The caller sends the term of its seat; the called server refuses older ones.
func ExampleTermGuard() {
	var seat tenure.Seat // of the caller
	_ = grpc.WithUnaryInterceptor(tenure.FenceUnaryCalls(seat.Election, seat.TermIfHeld))

	guard := tenure.NewTermGuard(tenure.TermGuardOptions{})
	_ = grpc.NewServer(grpc.UnaryInterceptor(guard.UnaryServerInterceptor(func(fullMethod string) string {
		if fullMethod == "/shop.Stock/Get" {
			return "" // everybody may read
		}
		return "orders"
	})))
}
