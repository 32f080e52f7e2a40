package helm_test

import (
	"reflect"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A pod that the chart makes, itself or through another object, and the kind of that object.
type pod struct {
	by       string
	metadata metav1.ObjectMeta
	spec     core.PodSpec
}

func podsOf(in objects) []pod {
	var found []pod
	for _, object := range in {
		switch object := object.(type) {
		case *apps.Deployment:
			template := object.Spec.Template
			found = append(found, pod{"Deployment", template.ObjectMeta, template.Spec})
		case *batch.Job:
			template := object.Spec.Template
			found = append(found, pod{"Job", template.ObjectMeta, template.Spec})
		case *core.Pod:
			found = append(found, pod{"Pod", object.ObjectMeta, object.Spec})
		}
	}
	return found
}

// The template of the replicas' pods.
func server(t *testing.T, in objects) core.PodTemplateSpec {
	t.Helper()
	return only[*apps.Deployment](t, in).Spec.Template
}

// The container of the replicas.
func tenured(t *testing.T, in objects) core.Container {
	t.Helper()
	return server(t, in).Spec.Containers[0]
}

func migration(t *testing.T, in objects) core.PodSpec {
	t.Helper()
	return only[*batch.Job](t, in).Spec.Template.Spec
}

func variables(container core.Container) map[string]string {
	found := map[string]string{}
	for _, variable := range container.Env {
		found[variable.Name] = variable.Value
	}
	return found
}

// The objects that make the pods that this selector finds.
func selects(t *testing.T, in objects, selector *metav1.LabelSelector) []string {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, pod := range podsOf(in) {
		if parsed.Matches(labels.Set(pod.metadata.Labels)) {
			found = append(found, pod.by)
		}
	}
	return found
}

func expect[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
