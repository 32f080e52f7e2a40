package sqlfence

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestTheStatementIsSafeForAnyName(t *testing.T) {
	for _, test := range []struct {
		fence Fence
		want  string
	}{
		{Fence{Election: "orders", Term: 7}, "CALL `tenure`.tenure_fence(_utf8mb4 x'6f7264657273', 7)"},
		{Fence{Election: "'ä", Term: 1, Database: "a`b"}, "CALL `a``b`.tenure_fence(_utf8mb4 x'27c3a4', 1)"},
	} {
		if got := test.fence.Statement(); got != test.want {
			t.Error(got)
		}
	}
}

func TestErrorsHaveAMeaning(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Meaning
	}{
		{&mysql.MySQLError{Number: 1644, Message: "tenure_fence: term 7 of election 'orders' does not stand"}, TermOver},
		{fmt.Errorf("wrapped: %w", &mysql.MySQLError{Number: 1644, Message: "tenure_fence: term 7"}), TermOver},
		{ErrTermOver, TermOver},
		{&mysql.MySQLError{Number: 1644, Message: "out of stock"}, Other},
		{&mysql.MySQLError{Number: 1205}, TryAgain},
		{&mysql.MySQLError{Number: 1213}, TryAgain},
		{&mysql.MySQLError{Number: 1020}, TryAgain},
		{&mysql.MySQLError{Number: 3101}, TryAgain},
		{&mysql.MySQLError{Number: 1180, Message: "Got error 149 - 'Lock deadlock' during COMMIT"}, TryAgain},
		{&mysql.MySQLError{Number: 1180, Message: "Got error 28"}, Other},
		{&mysql.MySQLError{Number: 1064}, Other},
		{errors.New("broken pipe"), Other},
		{nil, Other},
	} {
		if got := MeaningOf(test.err); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}
