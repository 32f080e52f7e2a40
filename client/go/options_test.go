package tenure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMalformedOptionsAreRefusedWithWhatIsWrong(t *testing.T) {
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
		{asObserver(ObserverOptions{Names: []string{"a"}, TLS: &TLSOptions{Token: "/nowhere"}}), "/nowhere"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%v does not say: %s", test.err, test.want)
		}
	}
}
