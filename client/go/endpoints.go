package tenure

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/grpc/resolver"
)

const (
	defaultEndpoints = "127.0.0.1:7070"
	portMax          = 65535
)

// parseEndpoints reads "host:port[,host:port...]". Blanks around an endpoint do not matter.
func parseEndpoints(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		list = defaultEndpoints
	}
	var endpoints []string
	for _, endpoint := range strings.Split(list, ",") {
		endpoint = strings.TrimSpace(endpoint)
		if endpoint == "" {
			continue
		}
		if err := checkEndpoint(endpoint); err != nil {
			return nil, err
		}
		endpoints = append(endpoints, endpoint)
	}
	if len(endpoints) == 0 {
		return nil, errors.New("tenure: Endpoints names no replica; write host:port[,host:port...]")
	}
	return endpoints, nil
}

func checkEndpoint(endpoint string) error {
	if scheme, _, found := strings.Cut(endpoint, ":"); found && resolver.Get(scheme) != nil {
		return nil // such as unix:PATH, or what the program has registered with gRPC
	}
	if target, err := url.Parse(endpoint); err == nil && strings.Contains(endpoint, "://") {
		return fmt.Errorf("tenure: the endpoint %q is a URL; write host:port, such as %q", endpoint, withPort(target.Host))
	}
	host, port, err := net.SplitHostPort(endpoint)
	if err == nil && strings.ContainsFunc(host, unicode.IsSpace) {
		err = errors.New("there is a blank in the host")
	}
	if err != nil {
		var malformed *net.AddrError
		if errors.As(err, &malformed) && malformed.Err == "missing port in address" {
			return fmt.Errorf("tenure: the endpoint %q has no port; write host:port, such as %q", endpoint, withPort(endpoint))
		}
		return fmt.Errorf("tenure: the endpoint %q is malformed: %w; write host:port, such as %q", endpoint, err, defaultEndpoints)
	}
	if number, err := strconv.Atoi(port); err != nil || number < 1 || number > portMax {
		return fmt.Errorf("tenure: the endpoint %q has the port %q; a port is a number from 1 to %d", endpoint, port, portMax)
	}
	return nil
}

func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return host + ":7070"
}
