package tenure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMalformedOptionsAreRefusedWithTheReason(t *testing.T) {
	client, err := NewClient(ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	file := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	asClient := func(options ClientOptions) error {
		_, err := NewClient(options)
		return err
	}
	asElector := func(options ElectorOptions) error {
		_, err := NewElector(client, options)
		return err
	}
	asObserver := func(options ObserverOptions) error {
		_, err := NewObserver(options)
		return err
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{asClient(ClientOptions{Endpoints: ","}), "names no replica"},
		{asClient(ClientOptions{Endpoints: "tenure-0"}), `"tenure-0" has no port; write host:port, such as "tenure-0:7070"`},
		{asClient(ClientOptions{Endpoints: "a:7070,http://b:7071/x"}), `"http://b:7071/x" is a URL; write host:port, such as "b:7071"`},
		{asClient(ClientOptions{Endpoints: "https://b"}), `write host:port, such as "b:7070"`},
		{asClient(ClientOptions{Endpoints: "a:seven"}), `has the port "seven"; a port is a number from 1 to 65535`},
		{asClient(ClientOptions{Endpoints: "a:70707"}), `has the port "70707"`},
		{asClient(ClientOptions{Endpoints: "a:"}), `has the port ""`},
		{asClient(ClientOptions{Endpoints: "::1:7070"}), `"::1:7070" is malformed`},
		{asClient(ClientOptions{Endpoints: "a b:7070"}), `"a b:7070" is malformed`},
		{asClient(ClientOptions{Candidate: strings.Repeat("x", 256)}), "is 256 bytes long; the maximum is 255"},
		{asClient(ClientOptions{Candidate: "a\nb"}), "control character"},
		{asClient(ClientOptions{LeaseTTL: -time.Second}), "LeaseTTL is -1s"},
		{asClient(ClientOptions{Supersede: true}), "Supersede needs a Candidate"},
		{asClient(ClientOptions{TLS: &TLSOptions{Certificate: file}}), "need each other"},
		{asClient(ClientOptions{TLS: &TLSOptions{CA: "/nowhere.pem"}}), "/nowhere.pem"},
		{asClient(ClientOptions{TLS: &TLSOptions{CA: file}}), "no certificate in PEM"},
		{asClient(ClientOptions{TLS: &TLSOptions{Token: "/nowhere"}}), "/nowhere"},
		{asElector(ElectorOptions{}), "Election is empty"},
		{asElector(ElectorOptions{Election: "a\u0085b"}), "control character"},
		{asElector(ElectorOptions{Election: "a", Value: make([]byte, 4097)}), "4097 bytes long; the maximum is 4096"},
		{asElector(ElectorOptions{Election: "a", StopGrace: -1}), "StopGrace"},
		{asObserver(ObserverOptions{}), "Names is empty"},
		{asObserver(ObserverOptions{Names: make([]string, 65), Prefix: true}), "the maximum is 64"},
		{asObserver(ObserverOptions{Names: []string{""}}), "is empty"},
		{asObserver(ObserverOptions{Names: []string{"a"}, SilenceMax: -1}), "SilenceMax"},
		{asObserver(ObserverOptions{Names: []string{"a"}, Endpoints: ","}), "names no replica"},
		{asObserver(ObserverOptions{Names: []string{"a"}, FromRevisions: map[string]uint64{"ab": 1}}), `"ab", which Names does not select`},
		{asObserver(ObserverOptions{Names: []string{"a"}, Prefix: true, FromRevisions: map[string]uint64{"b": 1}}), `"b", which Names does not select`},
		{asObserver(ObserverOptions{Names: []string{"a"}, TLS: &TLSOptions{Token: "/nowhere"}}), "/nowhere"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%v does not say: %s", test.err, test.want)
		}
	}
}

func TestBlanksAroundEndpointsDoNotMatter(t *testing.T) {
	for list, want := range map[string]string{
		"":                          "127.0.0.1:7070",
		" ":                         "127.0.0.1:7070",
		"a:7070, b:7070":            "a:7070 b:7070",
		"\ta:7070 ,\n b:7070 , ":    "a:7070 b:7070",
		"[::1]:7070,:7070":          "[::1]:7070 :7070",
		"dns:///a:7070,unix:/run/t": "dns:///a:7070 unix:/run/t",
	} {
		endpoints, err := parseEndpoints(list)
		if got := strings.Join(endpoints, " "); err != nil || got != want {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
}
