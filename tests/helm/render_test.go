// Renders the chart with the real helm, and decodes all that comes out into the API's own types.
package helm_test

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	chart       = "../../helm/tenure"
	release     = "demo"
	namespace   = "elections"
	kubeVersion = "1.37"
)

// What the chart makes of one set of values.
type objects []runtime.Object

// The chart with values/NAME.yaml, and more values on top, each as PATH=JSON.
func renderSet(t *testing.T, name string, more ...string) objects {
	t.Helper()
	return renderChart(t, chart, name, more...)
}

// The chart with the least values that it takes, and more on top, each as PATH=JSON.
func render(t *testing.T, more ...string) objects {
	t.Helper()
	return renderSet(t, "minimal", more...)
}

func renderChart(t *testing.T, folder, name string, more ...string) objects {
	t.Helper()
	output, err := template(folder, name, more...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := decodeAll(output)
	if err != nil {
		t.Fatalf("values/%s.yaml, %v: %v", name, more, err)
	}
	return found
}

// What helm says when it refuses these values.
func refusal(t *testing.T, more ...string) string {
	t.Helper()
	_, err := template(chart, "minimal", more...)
	if err == nil {
		t.Fatalf("helm takes %v", more)
	}
	return err.Error()
}

func template(folder, name string, more ...string) (string, error) {
	arguments := []string{"template", release, folder, "--namespace", namespace,
		"--kube-version", kubeVersion, "--values", valuesFile(name)}
	for _, value := range more {
		arguments = append(arguments, "--set-json", value)
	}
	return helm(arguments...)
}

func valuesFile(name string) string { return filepath.Join("values", name+".yaml") }

func helm(arguments ...string) (string, error) {
	output, err := exec.Command("helm", arguments...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = errors.New(string(exit.Stderr) + string(output))
	}
	return string(output), err
}

// The names of all files of values.
func valueSets(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(valuesFile("*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no values: ", err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".yaml")
	}
	return files
}

// A field that the type does not have, or that is there twice, is an error.
var strict = func() runtime.Decoder {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, monitoring.AddToScheme, certmanager.AddToScheme,
	} {
		if err := add(types); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(types, serializer.EnableStrict).UniversalDeserializer()
}()

func decodeAll(text string) (objects, error) {
	var found objects
	documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if isBlank(document) {
			continue
		}
		object, _, err := strict.Decode(document, nil, nil)
		if err != nil {
			return nil, errors.New(err.Error() + " in:\n" + string(document))
		}
		found = append(found, object)
	}
}

// Whether a document holds nothing but comments.
func isBlank(document []byte) bool {
	for line := range strings.Lines(string(document)) {
		line = strings.TrimSpace(line)
		if line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// All objects of one type.
func all[T runtime.Object](in objects) []T {
	var found []T
	for _, object := range in {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

// The only object of its type.
func only[T runtime.Object](t *testing.T, in objects) T {
	t.Helper()
	found := all[T](in)
	if len(found) != 1 {
		t.Fatalf("there are %d of %T, not one", len(found), *new(T))
	}
	return found[0]
}

// The object of its type with this name.
func named[T runtime.Object](t *testing.T, in objects, name string) T {
	t.Helper()
	for _, object := range all[T](in) {
		if accessor(object).GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %T called %s", *new(T), name)
	return *new(T)
}

func accessor(object runtime.Object) metav1.Object {
	found, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return found
}

// In which of helm's hooks an object is made; none if it is part of the release.
func hooks(object runtime.Object) []string {
	text := accessor(object).GetAnnotations()["helm.sh/hook"]
	return slices.DeleteFunc(strings.Split(text, ","), func(hook string) bool { return hook == "" })
}
