package helm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	core "k8s.io/api/core/v1"
)

// Their CRDs are not in every cluster.
func TestNothingIsForThePrometheusOperatorUnlessAskedFor(t *testing.T) {
	in := render(t)

	expect(t, len(all[*monitoring.ServiceMonitor](in)), 0)
	expect(t, len(all[*monitoring.PrometheusRule](in)), 0)
}

func TestPrometheusScrapesEveryReplicaOnce(t *testing.T) {
	in := renderSet(t, "everything")
	endpoint := only[*monitoring.ServiceMonitor](t, in).Spec.Endpoints[0]
	var scraped []string

	for _, service := range all[*core.Service](in) {
		for _, name := range portNames(service) {
			if name == endpoint.Port {
				scraped = append(scraped, service.Name)
			}
		}
	}

	expect(t, scraped, []string{"demo-tenure-headless"})
	expect(t, endpoint.Path, "/metrics")
}

func TestTheServiceMonitorFindsTheServices(t *testing.T) {
	in := renderSet(t, "everything")
	selector := only[*monitoring.ServiceMonitor](t, in).Spec.Selector

	for _, service := range all[*core.Service](in) {
		for key, value := range selector.MatchLabels {
			expect(t, service.Labels[key], value)
		}
	}
}

func TestTheServiceMonitorHasTheLabelsAndTimesThatAreAskedFor(t *testing.T) {
	monitor := only[*monitoring.ServiceMonitor](t, renderSet(t, "everything"))

	expect(t, monitor.Labels["release"], "prometheus")
	expect(t, monitor.Spec.Endpoints[0].Interval, "15s")
	expect(t, monitor.Spec.Endpoints[0].ScrapeTimeout, "5s")
}

func TestTimesThatAreNotAskedForArePrometheussOwn(t *testing.T) {
	monitor := only[*monitoring.ServiceMonitor](t, render(t, `serviceMonitor.enabled=true`))

	expect(t, monitor.Spec.Endpoints[0].Interval, "")
	expect(t, monitor.Spec.Endpoints[0].ScrapeTimeout, "")
}

// A copy of the chart with one more file.
func chartWith(t *testing.T, name, text string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "tenure")
	file := filepath.Join(folder, name)
	err := os.CopyFS(folder, os.DirFS(chart))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestEveryFileOfAlertsIsARuleWordForWord(t *testing.T) {
	folder := chartWith(t, "alerts/more.yaml", `# Alerts.
groups:
  - name: more
    rules:
      - alert: TenureAsks
        expr: up{job=~".*tenure.*"} == 0
        for: 5m
        annotations:
          summary: "{{ $labels.instance }} is away"
`)

	in := renderChart(t, folder, "everything")
	rule := named[*monitoring.PrometheusRule](t, in, "demo-tenure-more")

	expect(t, rule.Labels["release"], "prometheus")
	expect(t, rule.Spec.Groups[0].Rules[0].Annotations["summary"], "{{ $labels.instance }} is away")
}

func TestEveryAlertPointsToItsRunbook(t *testing.T) {
	in := render(t, `prometheusRule.enabled=true`, `prometheusRule.runbooks="https://git.example/runbooks"`)

	for _, rule := range only[*monitoring.PrometheusRule](t, in).Spec.Groups[0].Rules {
		expect(t, rule.Annotations["runbook_url"], "https://git.example/runbooks/"+rule.Alert+".md")
	}
}

func TestEveryDashboardIsAConfigMapWordForWord(t *testing.T) {
	const text = "{\n  \"title\": \"More\",\n  \"legend\": \"{{instance}}\"\n}\n"
	folder := chartWith(t, "dashboards/more.json", text)

	in := renderChart(t, folder, "everything")
	dashboard := named[*core.ConfigMap](t, in, "demo-tenure-dashboard-more")

	expect(t, dashboard.Data, map[string]string{"more.json": text})
	expect(t, dashboard.Labels["grafana_dashboard"], "1")
	expect(t, dashboard.Annotations, map[string]string{"grafana_folder": "Tenure"})
}

func TestDashboardsAndAlertsAreLeftOutUnlessAskedFor(t *testing.T) {
	for _, file := range []string{"dashboards/more.json", "alerts/more.yaml"} {
		in := renderChart(t, chartWith(t, file, "{}"), "minimal")

		expect(t, len(all[*core.ConfigMap](in))+len(all[*monitoring.PrometheusRule](in)), 0)
	}
}

func TestEveryDashboardOfTheChartIsRendered(t *testing.T) {
	in := renderSet(t, "everything")
	files, _ := filepath.Glob(filepath.Join(chart, "dashboards", "*.json"))
	rendered := map[string]bool{}

	for _, object := range all[*core.ConfigMap](in) {
		for name, text := range object.Data {
			rendered[name] = json.Valid([]byte(text))
		}
	}

	for _, file := range files {
		expect(t, rendered[filepath.Base(file)], true)
	}
}
