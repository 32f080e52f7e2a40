package helm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func TestHelmLintsTheChartStrictly(t *testing.T) {
	for _, name := range valueSets(t) {
		output, err := helm("lint", chart, "--strict", "--kube-version", kubeVersion,
			"--values", valuesFile(name))
		if err != nil {
			t.Errorf("values/%s.yaml: %v%s", name, err, output)
		}
	}
}

func TestHelmLintsTheChartWithoutAnyValues(t *testing.T) {
	if output, err := helm("lint", chart, "--strict", "--kube-version", kubeVersion); err != nil {
		t.Error(err, output)
	}
}

// Each block by itself, over the values that every installation needs.
func TestHelmLintsTheValuesThatTheREADMEShows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chart, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```$").FindAllSubmatch(text, -1)
	if len(blocks) < 2 {
		t.Errorf("the README shows only %d blocks of values", len(blocks))
	}
	for _, block := range blocks {
		values := filepath.Join(t.TempDir(), "values.yaml")
		if err := os.WriteFile(values, block[1], 0o600); err != nil {
			t.Fatal(err)
		}
		if output, err := helm("lint", chart, "--strict", "--kube-version", kubeVersion,
			"--values", valuesFile("minimal"), "--values", values); err != nil {
			t.Errorf("%s: %v%s", block[1], err, output)
		}
	}
}

func TestEveryObjectIsStrictlyOfItsType(t *testing.T) {
	for _, name := range valueSets(t) {
		t.Run(name, func(t *testing.T) { renderSet(t, name) }) // which decodes it
	}
}

func TestTheDecoderRefusesUnknownAndDoubleFields(t *testing.T) {
	const head = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
	for _, text := range []string{
		head + "spec: {portz: []}\n",
		head + "spec: {type: ClusterIP}\nspec: {type: NodePort}\n",
		"apiVersion: v1\nkind: Unheard\n",
	} {
		if _, err := decodeAll(text); err == nil {
			t.Errorf("this is taken:\n%s", text)
		}
	}
}

func TestTheOldestKubernetesThatCanSleepBeforeAStopIsServed(t *testing.T) {
	for version, served := range map[string]bool{"1.30": true, "1.29": false} {
		_, err := helm("template", release, chart, "--kube-version", version,
			"--values", valuesFile("minimal"))
		if (err == nil) != served {
			t.Errorf("Kubernetes %s: %v", version, err)
		}
	}
}

func TestEveryPodMeetsTheRestrictedStandard(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}

	for _, name := range valueSets(t) {
		for _, pod := range podsOf(renderSet(t, name)) {
			for _, result := range evaluator.EvaluatePod(restricted, &pod.metadata, &pod.spec) {
				if !result.Allowed {
					t.Errorf("values/%s.yaml, %s: %s (%s)", name, pod.by,
						result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
		}
	}
}

func TestNoPodCanWriteToItsImageOrCallTheAPI(t *testing.T) {
	for _, pod := range podsOf(renderSet(t, "everything")) {
		expect(t, pod.spec.AutomountServiceAccountToken, new(false))
		for _, container := range pod.spec.Containers {
			expect(t, container.SecurityContext.ReadOnlyRootFilesystem, new(true))
		}
	}
}

// A Service called "tenure-listen" would give all pods of its namespace TENURE_LISTEN_PORT.
func TestNoPodGetsVariablesOfServices(t *testing.T) {
	for _, pod := range podsOf(renderSet(t, "everything")) {
		expect(t, pod.spec.EnableServiceLinks, new(false))
	}
}

func TestReferencesOfPodsAreInTheChartOrAssumedToExist(t *testing.T) {
	for _, name := range valueSets(t) {
		in := renderSet(t, name)
		known := []string{"default"} // the ServiceAccount of every namespace
		for _, object := range in {
			known = append(known, accessor(object).GetName())
		}
		known = append(known, certificateSecrets(in)...)

		for _, pod := range podsOf(in) {
			for _, reference := range references(pod.spec) {
				if !slices.Contains(known, reference) && !strings.HasPrefix(reference, "existing-") {
					t.Errorf("values/%s.yaml: the pod of the %s refers to %s", name, pod.by, reference)
				}
			}
		}
	}
}

func references(spec core.PodSpec) []string {
	found := []string{spec.ServiceAccountName}
	for _, volume := range spec.Volumes {
		if volume.Secret != nil {
			found = append(found, volume.Secret.SecretName)
		}
		if volume.ConfigMap != nil {
			found = append(found, volume.ConfigMap.Name)
		}
		if volume.Projected != nil {
			for _, source := range volume.Projected.Sources {
				found = append(found, source.Secret.Name)
			}
		}
	}
	return found
}

func TestEveryMountHasItsVolumeAndEveryVolumeItsMount(t *testing.T) {
	for _, name := range valueSets(t) {
		for _, pod := range podsOf(renderSet(t, name)) {
			var volumes, mounts []string
			for _, volume := range pod.spec.Volumes {
				volumes = append(volumes, volume.Name)
			}
			for _, mount := range pod.spec.Containers[0].VolumeMounts {
				mounts = append(mounts, mount.Name)
			}
			slices.Sort(volumes)
			slices.Sort(mounts)
			expect(t, mounts, volumes)
		}
	}
}

// A file that a process reads again must change in place, and under a subPath it does not.
func TestNoFileIsMountedByASubPath(t *testing.T) {
	for _, pod := range podsOf(renderSet(t, "everything")) {
		for _, mount := range pod.spec.Containers[0].VolumeMounts {
			expect(t, mount.SubPath, "")
		}
	}
}

func TestObjectsOfOneKindHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, object := range renderSet(t, "everything") {
		name := object.GetObjectKind().GroupVersionKind().Kind + " " + accessor(object).GetName()
		if seen[name] {
			t.Errorf("there are two of %s", name)
		}
		seen[name] = true
	}
}

func TestNamesOfAnyLengthAreCutToWhatDNSTakes(t *testing.T) {
	long := strings.Repeat("a", 43) + "-" + strings.Repeat("b", 50)

	for _, object := range renderSet(t, "everything", `fullnameOverride="`+long+`"`) {
		if faults := validation.IsDNS1123Label(accessor(object).GetName()); len(faults) > 0 {
			t.Error(faults)
		}
	}
}

func TestTheReleaseIsInTheNameUnlessItSaysTenureAlready(t *testing.T) {
	for name, want := range map[string]string{
		"demo": "demo-tenure", "tenure": "tenure", "my-tenure": "my-tenure",
	} {
		output, err := helm("template", name, chart, "--kube-version", kubeVersion,
			"--values", valuesFile("minimal"), "--show-only", "templates/service.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^  name: ` + want + `$`).MatchString(output) {
			t.Errorf("release %s: no Service %s in\n%s", name, want, output)
		}
	}
}

func TestLabelsAreValid(t *testing.T) {
	for _, object := range renderSet(t, "everything") {
		for key, value := range accessor(object).GetLabels() {
			faults := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...)
			if len(faults) > 0 {
				t.Error(key, value, faults)
			}
		}
	}
}
