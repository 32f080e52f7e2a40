package helm_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

type object = map[string]any

func TestEveryValueThatIsMissingIsNamedInOneSentence(t *testing.T) {
	for sentence, values := range map[string][]string{
		"set store.hosts to":               {`store.hosts=[]`},
		"set store.passwordSecret.name to": {`store.passwordSecret.name=""`},
		"set tls.certManager.issuerRef":    {`tls.certManager.enabled=true`},
		"needs store.tls.ca.name":          {`store.tls.mode="verify-ca"`},
		"store.tls.ca needs":               {`store.tls={"mode":"required","ca":{"name":"a"}}`},
		"store.tls.certificateSecret need": {`store.tls.certificateSecret="a"`},
		"set only one of tls.existing":     {`tls={"existingSecret":"a","certManager":{"enabled":true}}`},
		"tls.clientCa needs tls":           {`tls.clientCa.existingSecret="a"`},
		"set only one of policy.inline":    {`policy={"inline":"a","existingSecret":"b"}`},
		"test.tokenSecret need tls":        {`test.tokenSecret.name="a"`},
		"test.certificateSecret and test":  {`test.certificateSecret="a"`},
		"minReplicas is more than":         {`autoscaling={"enabled":true,"minReplicas":6}`},
		"autoscaling needs resources":      {`autoscaling.enabled=true`, `resources.requests=null`},
	} {
		if said := refusal(t, values...); !strings.Contains(said, sentence) {
			t.Errorf("%v: %s", values, said)
		}
	}
}

func TestUnknownValuesAreRefused(t *testing.T) {
	for _, value := range []string{
		`replica=1`, `store.host="db"`, `store.passwordSecret.value="secret"`,
		`config.leaseTTLMin="1s"`, `tls.enabled=true`, `tls.certManager.issuer="a"`,
		`networkPolicy.client=[]`, `livenessProbe.exec={}`, `affinity.podAntiafinity={}`,
		`resources.request={}`,
	} {
		if said := refusal(t, value); !strings.Contains(said, "additional properties") {
			t.Errorf("%s: %s", value, said)
		}
	}
}

func TestValuesOfTheWrongTypeOrRangeAreRefused(t *testing.T) {
	for _, value := range []string{
		`replicas="3"`, `replicas=-1`, `replicas=1.5`, `store.hosts="db"`,
		`store.hosts=["db:3306"]`, `store.hosts=["a,b"]`, `store.port=0`, `store.user="a:b"`,
		`store.user="a@b"`, `store.user=""`, `store.database=""`, `store.database="a?b"`,
		`store.tls.mode="yes"`, `store.tls.ca="a"`, `image.tag=1.0`,
		`image.digest="abc"`, `image.pullPolicy="Sometimes"`, `config.leaseTtlMin="1"`,
		`config.leaseTtlMin=1`, `config.queueMax=-1`, `config.historyMaxEvents=0`,
		`config.logFormat="xml"`, `config.logLevel="loud"`,
		`config.metricsElectionPrefix=["a,b"]`, `shutdown.drainSeconds=0`,
		`tls.clientCerts="maybe"`, `antiAffinity=""`, `podLabels={"a":1}`, `extraEnv=["A=b"]`,
		`extraArgs=[1]`, `service.port=70000`, `autoscaling.minReplicas=0`,
		`podDisruptionBudget.maxUnavailable="half"`, `test.election=""`,
	} {
		if said := refusal(t, value); !strings.Contains(said, "specifications of the schema") {
			t.Errorf("%s: %s", value, said)
		}
	}
}

func TestAParentChartMayHaveGlobalValues(t *testing.T) {
	render(t, `global={"region":"eu"}`)
}

// Where the schema names properties, it takes no others; and it names just those of values.yaml.
func TestTheSchemaIsClosedAndNamesEveryValue(t *testing.T) {
	var schema object
	readFile(t, "values.schema.json", json.Unmarshal, &schema)
	var values object
	readFile(t, "values.yaml", yaml.Unmarshal, &values)
	values["global"] = object{} // helm's own
	definitions := schema["definitions"].(object)

	var compare func(path string, schema object, value any)
	compare = func(path string, schema object, value any) {
		if name, ok := schema["$ref"].(string); ok {
			schema = definitions[strings.TrimPrefix(name, "#/definitions/")].(object)
		}
		properties, ok := schema["properties"].(object)
		if !ok {
			return
		}
		if schema["additionalProperties"] != false {
			t.Errorf("%s: takes unknown values", path)
		}
		section, _ := value.(object)
		for name := range section {
			if _, ok := properties[name]; !ok {
				t.Errorf("%s.%s: not in the schema", path, name)
			}
		}
		for name, property := range properties {
			inner, ok := section[name]
			if !ok && !optional[path] {
				t.Errorf("%s.%s: not in values.yaml", path, name)
			}
			compare(path+"."+name, property.(object), inner)
		}
	}
	compare("", schema, values)
}

// Parts of the API's own types; values.yaml has what it sets of them.
var optional = map[string]bool{".affinity": true, ".livenessProbe": true, ".readinessProbe": true,
	".resources": true, ".migration.resources": true, ".test.resources": true}

func TestEverySectionOfTheValuesIsDocumentedInPlace(t *testing.T) {
	var document yaml.Node
	readFile(t, "values.yaml", yaml.Unmarshal, &document)
	keys := document.Content[0].Content
	above := "" // a comment covers the keys right below it

	for i := 0; i < len(keys); i += 2 {
		if keys[i].HeadComment != "" {
			above = keys[i].HeadComment
		} else if i > 0 && keys[i].Line > lastLine(keys[i-1])+1 {
			above = ""
		}
		if above == "" {
			t.Errorf("values.yaml:%d: nothing says what %s is", keys[i].Line, keys[i].Value)
		}
	}
}

func lastLine(node *yaml.Node) int {
	line := node.Line
	for _, inner := range node.Content {
		line = max(line, lastLine(inner))
	}
	return line
}

func TestEveryFlagHasTheDefaultOfTenured(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	given := variables(tenured(t, render(t)))
	var compared []string

	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|") // "", flag, variable, default, meaning, ""
		if len(cells) < 6 || !strings.HasPrefix(strings.TrimSpace(cells[2]), "`TENURE_") {
			continue
		}
		name := strings.Trim(cells[2], " `")
		if value, ok := given[name]; ok && !slices.Contains(ownOfTheChart, name) {
			expect(t, name+"="+value, name+"="+strings.Trim(cells[3], " `"))
			compared = append(compared, name)
		}
	}
	if len(compared) < 9 {
		t.Errorf("docs/configuration.md has only %v", compared)
	}
}

// Values that differ between a pod and a program on somebody's machine.
var ownOfTheChart = []string{"TENURE_LISTEN", "TENURE_HTTP_LISTEN", "TENURE_STORE",
	"TENURE_ADVERTISE", "TENURE_STORE_PASSWORD_FILE", "TENURE_NO_MIGRATE", "TENURE_LOG_FORMAT"}

func TestZeroValuesAreHonoured(t *testing.T) {
	in := renderSet(t, "bare")
	deployment := only[*apps.Deployment](t, in)
	given := variables(tenured(t, in))

	expect(t, deployment.Spec.Replicas, new(int32(0)))
	expect(t, given["TENURE_QUEUE_MAX"], "0")
	expect(t, given["TENURE_METRICS_ELECTIONS"], "0")
	expect(t, deployment.Spec.Template.Spec.Affinity, nil)
	expect(t, len(deployment.Spec.Template.Spec.TopologySpreadConstraints), 0)
	expect(t, tenured(t, in).Lifecycle, nil)
	expect(t, tenured(t, in).Resources, core.ResourceRequirements{})
	expect(t, kinds(in), []string{"Deployment", "Pod", "Service"})
}

func kinds(in objects) []string {
	found := map[string]bool{}
	for _, object := range in {
		found[object.GetObjectKind().GroupVersionKind().Kind] = true
	}
	return slices.Sorted(maps.Keys(found))
}

func TestEmptyTextIsNotAValue(t *testing.T) {
	given := variables(tenured(t, render(t, `config.metricsElectionPrefix=[]`)))

	_, ok := given["TENURE_METRICS_ELECTION_PREFIX"]
	expect(t, ok, false)
}

func TestLargeNumbersAreWrittenOut(t *testing.T) {
	in := render(t, `config={"queueMax":1000000000,"historyMaxEvents":123456789}`,
		`shutdown.drainSeconds=1000000`, `migration.activeDeadlineSeconds=1000000`)
	given := variables(tenured(t, in))

	expect(t, given["TENURE_QUEUE_MAX"], "1000000000")
	expect(t, given["TENURE_HISTORY_MAX_EVENTS"], "123456789")
	expect(t, given["TENURE_DRAIN_TIMEOUT"], "1000000s")
	expect(t, *only[*batch.Job](t, in).Spec.ActiveDeadlineSeconds, 1000000)
}

func TestAFlagWithoutAValueIsSetOnlyWhenItIsOn(t *testing.T) {
	for value, want := range map[string]string{"true": "true", "false": ""} {
		in := render(t, `config.noAdaptiveLeases=`+value)

		expect(t, variables(tenured(t, in))["TENURE_NO_ADAPTIVE_LEASES"], want)
	}
}

func TestAListIsOneVariable(t *testing.T) {
	in := render(t, `config.metricsElectionPrefix=["orders/","payments/"]`)

	expect(t, variables(tenured(t, in))["TENURE_METRICS_ELECTION_PREFIX"], "orders/,payments/")
}

func readFile(t *testing.T, name string, unmarshal func([]byte, any) error, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chart, name))
	if err == nil {
		err = unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryVariableIsOneOfThePrograms(t *testing.T) {
	known := ""
	for _, page := range []string{"../../docs/configuration.md", "../../docs/cli.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		known += string(text)
	}
	for _, name := range valueSets(t) {
		for _, pod := range podsOf(renderSet(t, name)) {
			for variable := range variables(pod.spec.Containers[0]) {
				if strings.HasPrefix(variable, "TENURE_") && !strings.Contains(known, "`"+variable+"`") {
					t.Errorf("values/%s.yaml: no page has the %s of the %s", name, variable, pod.by)
				}
			}
		}
	}
}
