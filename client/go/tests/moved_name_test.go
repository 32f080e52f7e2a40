package tests

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// movedName is a host name that only one process knows, and whose addresses can change.
type movedName struct {
	t     *testing.T
	hosts string
}

const serviceName = "tenure.test"

func (n *movedName) pointTo(addresses ...string) {
	n.t.Helper()
	lines := "127.0.0.1 localhost\n"
	for _, address := range addresses {
		lines += address + " " + serviceName + "\n"
	}
	must(n.t, os.WriteFile(n.hosts, []byte(lines), 0o600)) // in place, because it is mounted
}

// mounting is the command that runs a program that knows the name.
func (n *movedName) mounting(program string) []string {
	command := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		command = append(command, "--user", "--map-root-user")
	}
	return append(command, "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$1"`, n.hosts, program)
}

// The replicas of one name move, one after another, as pods do in a rolling restart.
func TestNoSeatIsLostWhileTheNameLeadsToAHealthyReplica(t *testing.T) {
	addresses := []string{network + "2", network + "3", network + "4", network + "5"}
	_, port, err := net.SplitHostPort(freeAddress())
	must(t, err)
	store := filepath.Join(t.TempDir(), "tenure.db")
	replica := func(address string) *service {
		return startReplicaAt(t, net.JoinHostPort(address, port), store)
	}
	name := &movedName{t, filepath.Join(t.TempDir(), "hosts")}
	first, second := replica(addresses[0]), replica(addresses[1])
	name.pointTo(addresses[0], addresses[1])
	t.Setenv("TENURE_TEST_CANDIDATE", serviceName+":"+port)
	t.Setenv("TENURE_TEST_LEASE", "10s")
	said := make(chan spoken, 100_000)
	command := name.mounting(os.Args[0])
	startProgram(t, said, 1, command[0], command[1:]...)
	expectRenewal := func() {
		for {
			line := receive(t, "a renewal", said).line
			if line == "renewed" {
				return
			}
			if term, err := strconv.Atoi(strings.Fields(line)[0]); err == nil && (term != 1 || strings.Contains(line, "ends")) {
				t.Fatal("the seat is lost: ", line)
			}
		}
	}
	expectRenewal()

	first.kill()
	replica(addresses[2])
	name.pointTo(addresses[1], addresses[2])
	second.kill()
	replica(addresses[3])
	name.pointTo(addresses[2], addresses[3])
	for len(said) > 0 { // earlier lines
		<-said
	}

	expectRenewal()
	expectRenewal() // the first one may have been under way
}
