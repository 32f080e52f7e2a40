// Reads compose.yaml with the library that `docker compose` reads it with, which checks it against the
// Compose specification, and holds it to what it promises.
package compose_test

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

func load(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"../../compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %v, not %v", what, got, want)
	}
}

func TestItHoldsAllThatIsNeededToWatchAnElection(t *testing.T) {
	names := load(t).ServiceNames()

	slices.Sort(names)
	expect(t, "services", names, []string{"grafana", "mariadb", "migrate", "prometheus", "tenured"})
}

func TestEveryContainerIsConfined(t *testing.T) {
	for name, service := range load(t).Services {
		expect(t, name+".read_only", service.ReadOnly, true)
		expect(t, name+".cap_drop", service.CapDrop, []string{"ALL"})
		expect(t, name+".security_opt", service.SecurityOpt, []string{"no-new-privileges:true"})
	}
}

func TestPortsAreOnLoopback(t *testing.T) {
	for name, service := range load(t).Services {
		for _, port := range service.Ports {
			expect(t, name+" at "+port.Published, port.HostIP, "127.0.0.1")
		}
	}
}

func TestImagesArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`:v?\d+\.\d+\.\d+$`)
	for name, service := range load(t).Services {
		if !pinned.MatchString(service.Image) {
			t.Errorf("%s: %q is no exact version", name, service.Image)
		}
	}
}

func TestThePasswordIsInAFileOnly(t *testing.T) {
	for name, service := range load(t).Services {
		for variable, value := range service.Environment {
			if strings.HasSuffix(variable, "PASSWORD_FILE") {
				expect(t, name+"."+variable, *value, "/run/secrets/database-password")
			} else if strings.HasSuffix(variable, "PASSWORD") && *value != "true" {
				t.Errorf("%s: %s is a password", name, variable)
			}
		}
	}
}

func TestThreeReplicasServeWhenTheSchemaIsUpToDate(t *testing.T) {
	project := load(t)
	tenured := project.Services["tenured"]
	migrate := project.Services["migrate"]

	expect(t, "replicas", *tenured.Deploy.Replicas, 3)
	expect(t, "TENURE_NO_MIGRATE", *tenured.Environment["TENURE_NO_MIGRATE"], "true")
	expect(t, "condition", tenured.DependsOn["migrate"].Condition, types.ServiceConditionCompletedSuccessfully)
	expect(t, "command", migrate.Command, types.ShellCommand{"migrate"})
	expect(t, "condition", migrate.DependsOn["mariadb"].Condition, types.ServiceConditionHealthy)
	for _, service := range []types.ServiceConfig{tenured, migrate} {
		expect(t, service.Name+": store", *service.Environment["TENURE_STORE"], "mysql://tenure@mariadb/tenure")
	}
}

func TestPrometheusAndGrafanaShowWhatTheChartShips(t *testing.T) {
	project := load(t)
	root := project.WorkingDir

	expect(t, "alerts", mounted(project, "prometheus", "/etc/prometheus/alerts"), filepath.Join(root, "helm/tenure/alerts"))
	expect(t, "dashboards", mounted(project, "grafana", "/etc/tenure/dashboards"), filepath.Join(root, "helm/tenure/dashboards"))
}

// What a service sees at a path, read-only.
func mounted(project *types.Project, service, target string) string {
	for _, volume := range project.Services[service].Volumes {
		if volume.Target == target && volume.ReadOnly {
			return volume.Source
		}
	}
	return ""
}
