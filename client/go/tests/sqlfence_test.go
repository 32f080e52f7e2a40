package tests

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"tenure"
	"tenure/sqlfence"
)

// startMariaDB returns the address. Skips the test if there is no MariaDB.
func startMariaDB(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("mariadbd"); err != nil {
		t.Skip("there is no mariadbd")
	}
	data := filepath.Join(t.TempDir(), "data")
	output, err := exec.Command("mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db",
		"--no-defaults", "--user=root", "--datadir="+data).CombinedOutput()
	if err != nil {
		t.Fatal(err, string(output))
	}
	address := freeAddress()
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	server := exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+data, "--port="+port,
		"--socket="+filepath.Join(data, "s"), "--bind-address="+host)
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	return address
}

// database waits until the server answers, and sends it these statements.
func database(t *testing.T, address string, statements ...string) {
	t.Helper()
	admin, err := sql.Open("mysql", address)
	must(t, err)
	defer admin.Close()
	eventually(t, "MariaDB answers", func() bool { return admin.Ping() == nil })
	for _, statement := range statements {
		_, err := admin.Exec(statement)
		must(t, err)
	}
}

func TestGuardedCommitsOnlyWhileItsTermLasts(t *testing.T) {
	mariadb := startMariaDB(t)
	database(t, "root@tcp("+mariadb+")/",
		"CREATE DATABASE tenure", "CREATE DATABASE shop", "CREATE TABLE shop.sales (term BIGINT)")
	service := startService(t, "--store", "mysql://root@"+mariadb+"/tenure")
	db, err := sql.Open("mysql", "root@tcp("+mariadb+")/shop")
	must(t, err)
	defer db.Close()
	sales := func() (count int) {
		must(t, db.QueryRow("SELECT COUNT(*) FROM sales").Scan(&count))
		return count
	}
	ctx := context.Background()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "it's", OneTerm: true})
	var fence sqlfence.Fence
	sell := func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO sales (term) VALUES (?)", fence.Term)
		return err
	}
	broken := errors.New("out of stock")

	must(t, elector.Run(ctx, func(ctx context.Context, seat tenure.Seat) error {
		fence = sqlfence.Fence{Election: seat.Election, Term: seat.Term}
		if err := fence.Guarded(ctx, db, sell); err != nil {
			return err
		}
		err := fence.Guarded(ctx, db, func(tx *sql.Tx) error { return errors.Join(sell(tx), broken) })
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		return nil
	}))
	if count := sales(); count != 1 {
		t.Error(count)
	}
	err = fence.Guarded(ctx, db, sell)

	if !errors.Is(err, sqlfence.ErrTermOver) || !strings.Contains(err.Error(), "does not stand") || sales() != 1 {
		t.Error(err, sales())
	}
}
