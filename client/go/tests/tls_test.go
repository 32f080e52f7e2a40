package tests

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tenure"
	pb "tenure/v1"
)

// authority signs certificates for a test, and stores them in a folder as NAME.crt and NAME.key.
type authority struct {
	t           *testing.T
	folder      string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	validUntil  time.Time
	addresses   []net.IP
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, folder: t.TempDir(), validUntil: time.Now().Add(time.Hour), addresses: []net.IP{net.ParseIP(host)}}
	a.certificate, a.key = a.issue("ca", true)
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.folder, name) }

func (a *authority) issue(name string, isCA bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: a.validUntil,
		DNSNames: []string{name}, IPAddresses: a.addresses,
		BasicConstraintsValid: true, IsCA: isCA,
	}
	parent, signer := a.certificate, a.key
	if isCA {
		template.KeyUsage = x509.KeyUsageCertSign
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	must(a.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(a.t, err)
	a.write(name+".crt", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", private)
	certificate, err := x509.ParseCertificate(der)
	must(a.t, err)
	return certificate, key
}

func (a *authority) write(name, kind string, der []byte) {
	must(a.t, os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCertificatesAndTokensSayWhoStands(t *testing.T) {
	authority := newAuthority(t)
	authority.issue("server", false)
	authority.issue("orders", false)
	token := writeFile(t, "token", "0123456789abcdef0123\n")
	policy := writeFile(t, "policy.yaml", `identities:
  - name: orders
    sans: [orders]
    rules: [{verbs: [campaign, observe], elections: [orders]}]
  - name: nightly
    token_files: [`+token+`]
    rules: [{verbs: [campaign], elections: [nightly]}]
`)
	service := startService(t, "--tls-cert", authority.path("server.crt"), "--tls-key", authority.path("server.key"),
		"--tls-client-ca", authority.path("ca.crt"), "--tls-client-certs", "optional", "--policy", policy)
	asOrders := &tenure.TLSOptions{
		CA: authority.path("ca.crt"), Certificate: authority.path("orders.crt"), Key: authority.path("orders.key"),
	}
	asNightly := &tenure.TLSOptions{CA: authority.path("ca.crt"), Token: token}

	for _, test := range []struct {
		tls      *tenure.TLSOptions
		election string
		allowed  bool
	}{
		{asOrders, "orders", true}, {asOrders, "nightly", false},
		{asNightly, "nightly", true}, {asNightly, "orders", false},
		{&tenure.TLSOptions{CA: authority.path("ca.crt")}, "orders", false},
	} {
		client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, TLS: test.tls})
		troubles := make(chan error, 100)
		elector := newElector(t, client, tenure.ElectorOptions{Election: test.election, OnTrouble: func(err error) { troubles <- err }})
		ctx, cancel := context.WithCancel(context.Background())
		led := make(chan struct{}, 1)
		returned := run(elector, ctx, func(context.Context, tenure.Seat) error {
			led <- struct{}{}
			cancel()
			return nil
		})
		if test.allowed {
			receive(t, "a term", led)
		} else if err := receive(t, "trouble", troubles); status.Code(err) != codes.PermissionDenied && status.Code(err) != codes.Unauthenticated {
			t.Error(err)
		}
		cancel()
		must(t, receive(t, "Run", returned))
	}
}

func TestAServiceThatIsNotTrustedGetsNothing(t *testing.T) {
	authority, other := newAuthority(t), newAuthority(t)
	authority.issue("server", false)
	service := startService(t, "--tls-cert", authority.path("server.crt"), "--tls-key", authority.path("server.key"))
	client := newClient(t, tenure.ClientOptions{Endpoints: service.endpoint, TLS: &tenure.TLSOptions{CA: other.path("ca.crt")}})
	troubles := make(chan error, 100)
	elector := newElector(t, client, tenure.ElectorOptions{Election: "orders", OnTrouble: func(err error) { troubles <- err }})
	must(t, elector.Stand())

	if err := receive(t, "trouble", troubles); status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
}

const secret = "0123456789abcdef0123\n"

// startServiceWithToken starts a service where the bearer of the secret may stand in "orders", and
// observe it.
func startServiceWithToken(t *testing.T, authority *authority) *service {
	authority.issue("server", false)
	policy := writeFile(t, "policy.yaml", `identities:
  - name: orders
    token_files: [`+writeFile(t, "known", secret)+`]
    rules: [{verbs: [campaign, observe], elections: [orders]}]
`)
	return startService(t, "--tls-cert", authority.path("server.crt"), "--tls-key", authority.path("server.key"), "--policy", policy)
}

// The library also watches the health of the replica, on the same connection.
func TestATokenThatIsMissingForAMomentDoesNotKeepAClientAway(t *testing.T) {
	authority := newAuthority(t)
	token := writeFile(t, "token", "")
	service := startServiceWithToken(t, authority)
	led := make(chan struct{}, 1)
	var trouble error
	for try := 0; try < 5; try++ { // on a busy machine, the connection may not be ready in time for the first campaign
		client := newClient(t, tenure.ClientOptions{
			Endpoints: service.endpoint, TLS: &tenure.TLSOptions{CA: authority.path("ca.crt"), Token: token},
		})
		troubles := make(chan error, 100)
		elector := newElector(t, client, tenure.ElectorOptions{Election: "orders", OnTrouble: func(err error) { troubles <- err }})
		run(elector, context.Background(), func(ctx context.Context, _ tenure.Seat) error {
			led <- struct{}{}
			<-ctx.Done()
			return nil
		})
		if trouble = receive(t, "trouble", troubles); status.Code(trouble) != codes.DeadlineExceeded {
			break
		}
	}

	if !strings.Contains(trouble.Error(), "holds no token") {
		t.Error(trouble)
	}
	must(t, os.WriteFile(token, []byte(secret), 0o600))

	receive(t, "a term", led)
}

func TestAnObserverSurvivesATokenThatIsMissingForAMoment(t *testing.T) {
	authority := newAuthority(t)
	token := writeFile(t, "token", secret)
	service := startServiceWithToken(t, authority)
	said := newLog()
	observer := newObserver(t, said, tenure.ObserverOptions{
		Endpoints: service.endpoint, Names: []string{"orders"},
		TLS:        &tenure.TLSOptions{CA: authority.path("ca.crt"), Token: token},
		OnProgress: func(*pb.Progress) { said.say("progress") },
		OnBroken: func(err error) {
			if strings.Contains(err.Error(), token) {
				said.say("no token")
			}
		},
	})
	must(t, os.Remove(token)) // before it runs
	runObserver(t, observer)
	for line := ""; line != "no token"; {
		line = receive(t, "that it has no token", said)
	}
	must(t, os.WriteFile(token, []byte(secret), 0o600))
	for line := ""; line != "progress"; {
		line = receive(t, "that it observes", said)
	}

	for _, remove := range []func(){
		func() { must(t, os.Remove(token)) },
		func() { must(t, os.WriteFile(token, nil, 0o600)) },
	} {
		remove()
		service.kill()
		service.start()
		for line := ""; line != "no token"; {
			line = receive(t, "that it has no token", said)
		}
		must(t, os.WriteFile(token, []byte(secret), 0o600))
		for line := ""; line != "progress"; {
			line = receive(t, "that it observes again", said)
		}
	}
}
