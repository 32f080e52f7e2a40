package tests

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"tenure"
)

// spokenLines is a logger and the lines it gets: "WARN tenure: cannot use ...".
func spokenLines() (*slog.Logger, log) {
	said := newLog()
	return slog.New(toLog{said, ""}), said
}

type toLog struct {
	log
	attributes string
}

func (toLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l toLog) Handle(_ context.Context, record slog.Record) error {
	line := record.Level.String() + " " + record.Message
	record.Attrs(func(attribute slog.Attr) bool {
		line += " " + attribute.String()
		return true
	})
	l.say("%s", line)
	return nil
}
func (l toLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l toLog) WithGroup(string) slog.Handler      { return l }

// answering is a server that answers each connection with the same bytes, at once or after the first
// bytes received.
func answering(t *testing.T, bytes string, atOnce bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				if !atOnce {
					_, _ = connection.Read(make([]byte, 1000))
				}
				_, _ = connection.Write([]byte(bytes))
				_, _ = connection.Read(make([]byte, 1000))
			}()
		}
	}()
	return listener.Addr().String()
}

func listening(t *testing.T, serve func(net.Listener) error) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() { _ = serve(listener) }()
	return listener.Addr().String()
}

func withTLS(t *testing.T, authority *authority, flags ...string) *service {
	return startService(t, append([]string{"--tls-cert", authority.path("server.crt"), "--tls-key", authority.path("server.key")}, flags...)...)
}

func TestAnUnusableServiceIsLoggedOnceWithTheEndpointAndTheReason(t *testing.T) {
	trusted, other := newAuthority(t), newAuthority(t)
	trusted.issue("server", false)
	other.issue("server", false)
	trust := &tenure.TLSOptions{CA: trusted.path("ca.crt")}
	expired := newAuthority(t)
	expired.validUntil = time.Now().Add(-time.Minute)
	expired.issue("server", false)
	named := newAuthority(t)
	named.addresses = []net.IP{net.IPv4(10, 0, 0, 1)}
	named.issue("server", false)
	otherService := grpc.NewServer()
	healthpb.RegisterHealthServer(otherService, health.NewServer())
	t.Cleanup(otherService.Stop)
	withHTTP := startService(t)
	greeting := "\x4a\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB"

	for about, test := range map[string]struct {
		endpoint, want string
		tls            *tenure.TLSOptions
	}{
		"nobody listens":       {freeAddress(), "connection refused", nil},
		"no such name":         {"nowhere.invalid:7070", "no such host", nil},
		"tenured's HTTP port":  {withHTTP.http, "it does not speak gRPC (it is an HTTP port)", nil},
		"an HTTP server":       {listening(t, func(listener net.Listener) error { return http.Serve(listener, nil) }), "it does not speak gRPC (it is an HTTP port)", nil},
		"a database":           {answering(t, greeting, true), "it does not speak gRPC (it is a MySQL or MariaDB server)", nil},
		"a database, with TLS": {answering(t, greeting, true), "it does not speak TLS", trust},
		"SSH":                  {answering(t, "SSH-2.0-OpenSSH_9.2\r\n", true), "it does not speak gRPC (is it an HTTP port, or a database?)", nil},
		"Redis":                {answering(t, "-ERR unknown command\r\n", false), "it does not speak gRPC (is it an HTTP port, or a database?)", nil},
		"another service":      {listening(t, otherService.Serve), "it speaks gRPC, but is not Tenure", nil},
		"silence":              {startSilent(t), "no answer", nil},
		"silence, with TLS":    {startSilent(t), "no answer", trust},
		"plain to TLS":         {withTLS(t, trusted).endpoint, "(does it want TLS?)", nil},
		"TLS to plain":         {startService(t).endpoint, "it does not speak TLS", trust},
		"an expired certificate": {withTLS(t, expired).endpoint, "its certificate has expired, or is not valid yet",
			&tenure.TLSOptions{CA: expired.path("ca.crt")}},
		"another authority": {withTLS(t, other).endpoint, "its certificate is signed by an unknown authority", trust},
		"another name": {withTLS(t, named).endpoint, "its certificate is for another name: ",
			&tenure.TLSOptions{CA: named.path("ca.crt")}},
		"no client certificate": {withTLS(t, trusted, "--tls-client-ca", trusted.path("ca.crt")).endpoint, "client certificate", trust},
	} {
		test := test
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			logger, said := spokenLines()
			client := newClient(t, tenure.ClientOptions{Endpoints: test.endpoint, TLS: test.tls, Logger: logger})
			troubles := make(chan error, 100)
			elector := newElector(t, client, tenure.ElectorOptions{Election: "orders", OnTrouble: func(err error) { troubles <- err }})
			must(t, elector.Stand())

			line := receive(t, "a warning", said)
			if !strings.HasPrefix(line, "WARN tenure: cannot use "+test.endpoint+": ") || !strings.Contains(line, test.want) ||
				!strings.HasSuffix(line, "; still trying") {
				t.Error(line)
			}
			if err := receive(t, "trouble", troubles); status.Code(err) != codes.Unavailable && status.Code(err) != codes.DeadlineExceeded {
				t.Error(err)
			}
			if err := elector.Trouble(); !strings.Contains(err.Error(), "cannot use "+test.endpoint) {
				t.Error(err)
			}
			if err := elector.Gocron().IsLeader(context.Background()); !errors.Is(err, tenure.ErrNotLeader) || status.Code(err) == codes.Unknown {
				t.Error(err)
			}
		})
	}
}

func startSilent(t *testing.T) string {
	relay := startRelay(t, "127.0.0.1:1")
	relay.hang()
	return relay.endpoint
}

func TestAServiceWithoutItsDatabaseSaysSo(t *testing.T) {
	service := &service{t: t, endpoint: freeAddress(), http: freeAddress(), store: "unused",
		flags: []string{"--store", "mysql://root@" + freeAddress() + "/tenure"}}
	service.launch()
	t.Cleanup(service.kill)
	eventually(t, "it listens", func() bool {
		connection, err := net.Dial("tcp", service.endpoint)
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
	logger, said := spokenLines()
	elector := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Logger: logger}), tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())

	if line := receive(t, "a warning", said); !strings.Contains(line, "cannot use "+service.endpoint+": the service runs, but cannot reach its database: ") {
		t.Error(line)
	} else {
		t.Log(line)
	}
}

func TestOutagesAndTermsAreLoggedOnce(t *testing.T) {
	service := startService(t)
	logger, said := spokenLines()
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, LeaseTTL: 30 * time.Second, Logger: logger})
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())
	said.expect(t, "INFO tenure: leads election=orders term=1")

	service.kill()
	if line := receive(t, "a warning", said); !strings.HasPrefix(line, "WARN tenure: cannot use "+service.endpoint+": ") {
		t.Error(line)
	}
	service.start()
	if line := receive(t, "the end of the outage", said); !strings.HasPrefix(line, "INFO tenure: "+service.endpoint+" answers after ") {
		t.Error(line)
	}
	must(t, client.Close())

	said.expect(t, "INFO tenure: leads no more election=orders term=1 cause=RESIGNED")
}

func TestRefusalsOfTheServiceAreLogged(t *testing.T) {
	service := startService(t, "--policy", writeFile(t, "policy.yaml", "identities: []\n"))
	logger, said := spokenLines()
	elector := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, Logger: logger}), tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())
	if line := receive(t, "a warning", said); !strings.HasPrefix(line, "WARN tenure: cannot stand for orders: permission denied: ") || !strings.HasSuffix(line, "; still trying") {
		t.Error(line)
	}

	malformed := newElector(t, newClient(t, tenure.ClientOptions{Endpoints: startService(t).endpoint, LeaseTTL: 100 * time.Hour, Logger: logger}),
		tenure.ElectorOptions{Election: "mail"})
	must(t, malformed.Stand())
	if line := receive(t, "an error", said); !strings.HasPrefix(line, "ERROR tenure: cannot stand for mail: ") || !strings.HasSuffix(line, " (INVALID_LEASE_TTL); not trying again") {
		t.Error(line)
	}
}

func TestACacheThatIsNotReadyInTimeSaysWhy(t *testing.T) {
	logger, said := spokenLines()
	endpoint := freeAddress()
	leaders, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{Endpoints: endpoint, Names: []string{"orders"}, Logger: logger})
	must(t, err)
	defer leaders.Close()
	said.expect(t, "WARN tenure: cannot use "+endpoint+": connection refused; still trying")
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()

	err = leaders.WaitUntilReady(ctx)

	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "cannot use "+endpoint+": connection refused") {
		t.Error(err)
	}
}

// A proxy named by the environment is not used, and gRPC's own log does not reach the terminal.
func TestWithoutALoggerStandardErrorGetsTheWarningAndNothingElse(t *testing.T) {
	otherService := grpc.NewServer()
	healthpb.RegisterHealthServer(otherService, health.NewServer())
	t.Cleanup(otherService.Stop)
	for about, endpoint := range map[string]string{
		"nobody listens":  freeAddress(),
		"a database":      answering(t, "\x4a\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB", true),
		"another service": listening(t, otherService.Serve),
	} {
		process := exec.Command(os.Args[0])
		proxy := "http://" + freeAddress()
		process.Env = append(os.Environ(), "TENURE_TEST_CANDIDATE="+endpoint,
			"http_proxy="+proxy, "https_proxy="+proxy, "HTTPS_PROXY="+proxy)
		errors, err := process.StderrPipe()
		must(t, err)
		must(t, process.Start())
		lines := bufio.NewScanner(errors)
		if !lines.Scan() || !strings.Contains(lines.Text(), "WARN tenure: cannot use "+endpoint+": ") || strings.Contains(lines.Text(), proxy) {
			t.Error(about, ": ", lines.Text())
		}
		must(t, process.Process.Signal(os.Interrupt))
		for lines.Scan() {
			t.Error(about, ": ", lines.Text())
		}
		_ = process.Wait()
	}
}

func TestUnusableEndpointsAreLoggedOnceEvenIfTheyAreNotNeeded(t *testing.T) {
	first := startService(t)
	nobody := freeAddress()
	endpoints := strings.Join([]string{nobody, first.http, first.endpoint, startReplica(t, first.store).endpoint}, ",")
	logger, said := spokenLines()
	client := newClient(t, tenure.ClientOptions{Endpoints: endpoints, Logger: logger})
	observerLogger, observerSaid := spokenLines()
	cache, err := tenure.NewLeaderCache(tenure.LeaderCacheOptions{Endpoints: endpoints, Names: []string{"orders"}, Logger: observerLogger})
	must(t, err)
	t.Cleanup(func() { _ = cache.Close() })

	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders"})
	must(t, elector.Stand())

	for _, lines := range []log{said, observerSaid} {
		want := map[string]bool{
			"WARN tenure: cannot use " + nobody + ": connection refused; still trying":                              true,
			"WARN tenure: cannot use " + first.http + ": it does not speak gRPC (it is an HTTP port); still trying": true,
		}
		for len(want) > 0 {
			line := receive(t, "a warning", lines)
			if strings.HasPrefix(line, "WARN") && !want[line] {
				t.Error(line)
			}
			delete(want, line)
		}
	}
	eventually(t, "it leads", elector.IsLeader)
}
