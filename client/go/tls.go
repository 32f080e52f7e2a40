package tenure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// TLSOptions are the files for a service that uses TLS, client certificates or tokens. All are paths
// of PEM files except Token. They are read again for each connection (Token: for each call), so a
// changed file needs no restart. To change a certificate together with its key, replace the folder or
// the symbolic link in their paths.
type TLSOptions struct {
	// CA bundle that the service's certificate must chain to. Empty: the CAs that this machine trusts.
	CA string
	// Client certificate and its private key. Empty: none is presented.
	Certificate, Key string
	// File whose first line is sent with each call as a bearer token. Empty: no token is sent.
	Token string
}

// check says which option is malformed, or which file cannot be read.
func (o *TLSOptions) check() error {
	if o == nil {
		return nil
	}
	if (o.Certificate == "") != (o.Key == "") {
		return errors.New("tenure: a client certificate and its private key need each other: give both or neither")
	}
	if _, err := o.config(); err != nil {
		return err
	}
	if o.Token != "" {
		if _, err := os.ReadFile(o.Token); err != nil {
			return fmt.Errorf("tenure: %w", err)
		}
	}
	return nil
}

func (o *TLSOptions) dialOptions() []grpc.DialOption {
	if o == nil || o.Token == "" {
		return nil
	}
	return []grpc.DialOption{grpc.WithPerRPCCredentials(tokenOfFile(o.Token))}
}

func (o *TLSOptions) credentials() credentials.TransportCredentials {
	if o == nil {
		return insecure.NewCredentials()
	}
	return &reloadedTLS{credentials.NewTLS(&tls.Config{}), *o}
}

func (o *TLSOptions) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		bundle, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("tenure: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, fmt.Errorf("tenure: %s holds no certificate in PEM", o.CA)
		}
	}
	if o.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(o.Certificate, o.Key)
		if err != nil {
			return nil, fmt.Errorf("tenure: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// reloadedTLS reads the files for each connection.
type reloadedTLS struct {
	credentials.TransportCredentials
	options TLSOptions
}

func (r *reloadedTLS) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config, err := r.options.config()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, raw)
}

func (r *reloadedTLS) Clone() credentials.TransportCredentials {
	return &reloadedTLS{r.TransportCredentials.Clone(), r.options}
}

// healthService is open to everyone. gRPC watches it on each connection; after a failed watch, it may
// not use the connection for minutes.
const healthService = "/grpc.health.v1.Health/"

// tokenOfFile reads the token for each call. A file that is being replaced may be missing or empty for a
// moment, so such a call may be retried: it is not the service that refuses it.
type tokenOfFile string

func (f tokenOfFile) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := f.read()
	call, known := credentials.RequestInfoFromContext(ctx)
	switch {
	case err == nil:
		return map[string]string{"authorization": "Bearer " + token}, nil
	case known && strings.HasPrefix(call.Method, healthService):
		return nil, nil
	default:
		return nil, status.Error(codes.Unavailable, err.Error())
	}
}

func (f tokenOfFile) read() (string, error) {
	content, err := os.ReadFile(string(f))
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(content), "\n")
	token := strings.TrimRight(first, " \t\r")
	if token == "" {
		return "", fmt.Errorf("the first line of %s holds no token", string(f))
	}
	return token, nil
}

func (tokenOfFile) RequireTransportSecurity() bool { return true }
