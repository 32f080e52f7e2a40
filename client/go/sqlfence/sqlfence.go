// Package sqlfence fences SQL transactions of database/sql with github.com/go-sql-driver/mysql.
//
// If your tables are on the same MySQL or MariaDB server as Tenure's, a transaction that starts with a
// fence commits only while its term lasts, and the next term is not granted before the transaction has
// ended. It need not know when your lease ends: the database does. It does not fence effects outside the
// database. docs/fencing.md of Tenure has the rules.
//
//	fence := sqlfence.Fence{Election: seat.Election, Term: seat.Term}
//	err := fence.Guarded(ctx, db, func(tx *sql.Tx) error {
//		_, err := tx.ExecContext(ctx, "UPDATE stock SET pieces = pieces - 1")
//		return err
//	})
//	if errors.Is(err, sqlfence.ErrTermOver) { ... } // stop acting as the leader
package sqlfence

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// TriesMax is the maximum number of attempts of Guarded.
const TriesMax = 5

// ErrTermOver means that the term has ended. Stop acting as the leader.
var ErrTermOver = errors.New("sqlfence: the term is over")

// The numbers are those of MySQL's and MariaDB's manuals; the text is that of the procedure. Other
// programs raise 1644, too.
const (
	signalled         = 1644
	refusal           = "tenure_fence: term "
	changedSinceRead  = 1020 // record has changed since last read
	lockWaitTimeout   = 1205
	deadlock          = 1213
	notCertified      = 3101 // by Group Replication
	errorDuringCommit = 1180
	deadlockInCommit  = "error 149 "
	defaultDatabase   = "tenure"
	transactionFailed = "sqlfence: %w"
)

// Meaning is what an error says about the term.
type Meaning int

const (
	// Other is any other error. Roll back; what to do next is up to you.
	Other Meaning = iota
	// TermOver means that the term has ended. Roll back, and stop acting as the leader.
	TermOver
	// TryAgain means nothing for the term. Roll back, and start again with the fence.
	TryAgain
)

// MeaningOf classifies an error of the driver, or one that wraps it.
func MeaningOf(err error) Meaning {
	if errors.Is(err, ErrTermOver) {
		return TermOver
	}
	var failed *mysql.MySQLError
	if !errors.As(err, &failed) {
		return Other
	}
	switch failed.Number {
	case signalled:
		if strings.Contains(failed.Message, refusal) {
			return TermOver
		}
		return Other
	case changedSinceRead, lockWaitTimeout, deadlock, notCertified:
		return TryAgain
	case errorDuringCommit:
		if strings.Contains(failed.Message, deadlockInCommit) {
			return TryAgain
		}
		return Other
	default:
		return Other
	}
}

// Fence is the term in which this process leads an election.
type Fence struct {
	Election string
	Term     uint64
	Database string // the one with Tenure's tables; "tenure" if empty
}

// Statement is the first statement of a transaction: after START TRANSACTION, and before anything you
// read. Send it as its own message, like each one after it. Safe for any election name, character set
// and SQL mode of the connection.
func (f Fence) Statement() string {
	database := f.Database
	if database == "" {
		database = defaultDatabase
	}
	return fmt.Sprintf("CALL `%s`.tenure_fence(_utf8mb4 x'%s', %d)",
		strings.ReplaceAll(database, "`", "``"), hex.EncodeToString([]byte(f.Election)), f.Term)
}

// Guarded runs `work` in one transaction behind the fence, and commits it. It starts again after errors
// that can be retried, with at most TriesMax attempts in all. On any other error, or the last one, it
// rolls back and returns the error, which is ErrTermOver if the term has ended.
//
// `work` sends its reads and writes on tx, and neither commits nor rolls back. It may run several times,
// and must have no effects that a ROLLBACK does not undo.
//
// If the connection breaks during COMMIT, it is unknown whether the transaction was committed: check your
// data.
func (f Fence) Guarded(ctx context.Context, db *sql.DB, work func(tx *sql.Tx) error) error {
	for tries := 1; ; tries++ {
		err := f.once(ctx, db, work)
		switch MeaningOf(err) {
		case TermOver:
			return fmt.Errorf("%w: %w", ErrTermOver, err)
		case TryAgain:
			if tries < TriesMax && ctx.Err() == nil {
				continue
			}
		}
		return err
	}
}

func (f Fence) once(ctx context.Context, db *sql.DB, work func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf(transactionFailed, err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	if _, err := tx.ExecContext(ctx, f.Statement()); err != nil {
		return fmt.Errorf(transactionFailed, err)
	}
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}
