package tenure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"tenure/internal/machine"
)

// reason is why a replica cannot be used, in plain words.
type reason struct {
	kind   string // always a constant: reasons are compared by it
	detail string
}

func (r reason) String() string {
	if r.detail == "" {
		return r.kind
	}
	return r.kind + ": " + r.detail
}

const (
	refusedConnection = "connection refused"
	noSuchHost        = "no such host"
	noAnswer          = "no answer"
	noRoute           = "no route to it"
	closedConnection  = "the connection was closed"
	closedPlain       = "it closed the connection without an answer (does it want TLS?)"
	closedTLS         = "it closed the connection after the TLS handshake (does it want a client certificate?)"
	notGRPC           = "it does not speak gRPC (is it an HTTP port, or a database?)"
	notGRPCButHTTP    = "it does not speak gRPC (it is an HTTP port)"
	notGRPCButMySQL   = "it does not speak gRPC (it is a MySQL or MariaDB server)"
	notTenure         = "it speaks gRPC, but is not Tenure"
	wantsTLS          = "it wants TLS"
	noTLS             = "it does not speak TLS"
	wantsCertificate  = "it wants a client certificate"
	expiredCert       = "its certificate has expired, or is not valid yet"
	unknownAuthority  = "its certificate is signed by an unknown authority"
	wrongName         = "its certificate is for another name"
	failedTLS         = "the TLS handshake failed"
	noDatabase        = "the service runs, but cannot reach its database"
	notServing        = "the service runs, but does not serve now: see its log, or its /readyz"
	draining          = "it is shutting down"
	overloaded        = "it is overloaded"
	refusedForNow     = "the service refuses for now"
	otherService      = "it belongs to another service"
	otherReason       = "the call failed"
)

// The texts of gRPC for Go, its own and those of the operating system.
var phrases = []struct{ phrase, kind string }{
	{"connection refused", refusedConnection},
	{"actively refused", refusedConnection}, // Windows
	{"no such host", noSuchHost},
	{"server misbehaving", noSuchHost},
	{"no route to host", noRoute},
	{"network is unreachable", noRoute},
	{"health check failed", notServing},
	{"unexpected content-type", notGRPC},
	{"unexpected HTTP status code", notGRPC},
	{"i/o timeout", noAnswer},
	{"deadline exceeded", noAnswer},
	{"timed out", noAnswer},
	{"failed to receive ACK", noAnswer},
	{"certificate required", wantsCertificate},
	{"remote error: tls", failedTLS},
	{"EOF", closedConnection},
	{"reset by peer", closedConnection},
	{"broken pipe", closedConnection},
	{"is closing", closedConnection},
	{"goaway", closedConnection},
	{"error reading", closedConnection},
	{"the server ended the stream", closedConnection},
	{"the stream was silent", noAnswer},
}

// reasonOf is why a call failed. What the connection noted is more specific than gRPC's text.
func reasonOf(answer *status.Status, noted *reason) reason {
	switch info := machine.InfoOf(answer); info.GetReason() {
	case "STORE_UNAVAILABLE":
		return reason{noDatabase, answer.Message()}
	case "DRAINING":
		return reason{kind: draining}
	case "OVERLOADED":
		return reason{overloaded, answer.Message()}
	case machine.WrongService:
		return reason{otherService, answer.Message()}
	}
	switch answer.Code() {
	case codes.Unimplemented:
		return reason{kind: notTenure}
	case codes.Unavailable, codes.DeadlineExceeded:
		if noted != nil && !strings.Contains(answer.Message(), "while dialing") {
			return *noted
		}
	}
	if answer.Code() == codes.DeadlineExceeded {
		return reason{kind: noAnswer}
	}
	for _, known := range phrases {
		if strings.Contains(answer.Message(), known.phrase) {
			return reason{kind: known.kind}
		}
	}
	return reason{otherReason, oneLine(answer.Code().String() + " " + answer.Message())}
}

// refusalOf is why the service refuses a call, in plain words.
func refusalOf(answer *status.Status) string {
	message := oneLine(answer.Message())
	switch code := answer.Code(); {
	case code == codes.PermissionDenied || code == codes.Unauthenticated:
		return "permission denied: " + message
	case machine.InfoOf(answer).GetReason() != "":
		return message + " (" + machine.InfoOf(answer).GetReason() + ")"
	case message == "":
		return code.String()
	default:
		return message
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// asSeen is the answer of a replica as the state machines see it, and why the replica cannot be used, if
// it cannot. A server that is not Tenure counts as unreachable: another endpoint may be Tenure.
func asSeen(endpoint string, err error, noted *reason) (*status.Status, *reason) {
	answer := status.Convert(err)
	if answer.Code() == codes.OK || answer.Code() == codes.Canceled {
		return answer, nil
	}
	why := reasonOf(answer, noted)
	code := answer.Code()
	switch {
	case why.kind == notTenure || why.kind == notGRPC || why.kind == otherService:
		code = codes.Unavailable
	case !machine.IsTransient(answer):
		return answer, nil
	}
	said := answer.Proto()
	said.Code = int32(code)
	said.Message = fmt.Sprintf("cannot use %s: %s", endpoint, why)
	return status.FromProto(said), &why
}

// noticing are credentials that note what answers instead of gRPC, which gRPC's own errors do not say.
type noticing struct {
	credentials.TransportCredentials
	noted *atomic.Pointer[reason]
}

func (n *noticing) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	connection, info, err := n.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		why := reasonOfHandshake(err)
		n.noted.Store(&why)
		return nil, nil, err
	}
	return &noticed{Conn: connection, noted: n.noted, secure: connection != raw}, info, nil
}

func (n *noticing) Clone() credentials.TransportCredentials {
	return &noticing{n.TransportCredentials.Clone(), n.noted}
}

func reasonOfHandshake(err error) reason {
	var (
		noRecord  tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		name      x509.HostnameError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &noRecord):
		return reason{kind: noTLS}
	case errors.As(err, &authority):
		return reason{kind: unknownAuthority}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return reason{kind: expiredCert}
	case errors.As(err, &name):
		return reason{wrongName, oneLine(err.Error())}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return reason{kind: noAnswer}
	case strings.Contains(err.Error(), "certificate required"):
		return reason{kind: wantsCertificate}
	default:
		return reason{failedTLS, oneLine(err.Error())}
	}
}

// noticed is a connection that watches its beginning: the first bytes received, or that nothing could be
// sent. One goroutine reads, and one writes.
type noticed struct {
	net.Conn
	noted  *atomic.Pointer[reason]
	secure bool
	heard  atomic.Bool
	failed atomic.Bool // a write failed before anything was received
}

func (n *noticed) Read(bytes []byte) (int, error) {
	count, err := n.Conn.Read(bytes)
	if !n.heard.Swap(true) && !(n.failed.Load() && errors.Is(err, net.ErrClosed)) { // closed by gRPC, after the write
		n.noted.Store(reasonOfFirst(bytes[:count], err, n.secure))
	}
	return count, err
}

func (n *noticed) Write(bytes []byte) (int, error) {
	count, err := n.Conn.Write(bytes)
	if err != nil && !errors.Is(err, net.ErrClosed) && !n.heard.Load() {
		n.failed.Store(true)
		n.noted.Store(reasonOfSilence(err, n.secure))
	}
	return count, err
}

// reasonOfFirst is nil for the first frame of an HTTP/2 server, which gRPC servers send.
func reasonOfFirst(bytes []byte, err error, secure bool) *reason {
	const settings, alert, greeting, refusal = 4, 0x15, 10, 0xff
	switch {
	case len(bytes) == 0 && err != nil:
		return reasonOfSilence(err, secure)
	case len(bytes) >= 2 && bytes[0] == alert && bytes[1] == 3:
		return &reason{kind: wantsTLS}
	case strings.HasPrefix(string(bytes), "HTTP/"):
		return &reason{kind: notGRPCButHTTP}
	case len(bytes) >= 5 && bytes[3] == 0 && (bytes[4] == greeting || bytes[4] == refusal):
		return &reason{kind: notGRPCButMySQL}
	case len(bytes) >= 4 && bytes[3] != settings:
		return &reason{kind: notGRPC}
	default:
		return nil
	}
}

func reasonOfSilence(err error, secure bool) *reason {
	var timeout net.Error
	switch {
	case strings.Contains(err.Error(), "certificate required"):
		return &reason{kind: wantsCertificate}
	case strings.Contains(err.Error(), "remote error: tls"):
		return &reason{failedTLS, oneLine(err.Error())}
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, net.ErrClosed):
		return &reason{kind: noAnswer}
	case secure:
		return &reason{kind: closedTLS}
	default:
		return &reason{kind: closedPlain}
	}
}
