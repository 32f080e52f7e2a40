package helm_test

import (
	"fmt"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEveryServiceFindsReplicasOnly(t *testing.T) {
	in := renderSet(t, "everything")

	for _, service := range all[*core.Service](in) {
		selector := &metav1.LabelSelector{MatchLabels: service.Spec.Selector}
		expect(t, selects(t, in, selector), []string{"Deployment"})
	}
}

func TestEveryPortOfAServiceIsOneOfTheContainer(t *testing.T) {
	in := render(t)

	for _, service := range all[*core.Service](in) {
		for _, port := range service.Spec.Ports {
			expect(t, portOf(tenured(t, in), port.TargetPort.StrVal) > 0, true)
		}
	}
}

func TestTheHeadlessServiceNamesReplicasThatAreReady(t *testing.T) {
	service := named[*core.Service](t, render(t), "demo-tenure-headless").Spec

	expect(t, service.ClusterIP, core.ClusterIPNone)
	expect(t, service.PublishNotReadyAddresses, false)
}

func TestTheServiceIsOfTheTypeAndPortThatIsAskedFor(t *testing.T) {
	service := named[*core.Service](t, renderSet(t, "everything"), "demo-tenure")

	expect(t, service.Spec.Type, core.ServiceTypeLoadBalancer)
	expect(t, service.Spec.Ports[0].Port, 443)
	expect(t, service.Annotations, map[string]string{"example/internal": "true"})
}

// A LoadBalancer would show them to the world.
func TestTheServiceOfClientsHasNoPagesForOperators(t *testing.T) {
	expect(t, portNames(named[*core.Service](t, render(t), "demo-tenure")), []string{"grpc"})
}

func portNames(service *core.Service) []string {
	var found []string
	for _, port := range service.Spec.Ports {
		found = append(found, port.Name)
	}
	return found
}

// What a NetworkPolicy says of a direction: each rule as peers and ports.
func allowed(t *testing.T, in objects, name string) (ingress, egress []string) {
	t.Helper()
	spec := named[*networking.NetworkPolicy](t, in, name).Spec
	for _, rule := range spec.Ingress {
		ingress = append(ingress, peers(rule.From)+" "+ports(rule.Ports))
	}
	for _, rule := range spec.Egress {
		egress = append(egress, peers(rule.To)+" "+ports(rule.Ports))
	}
	return ingress, egress
}

func peers(of []networking.NetworkPolicyPeer) string {
	var found []string
	for _, peer := range of {
		if peer.IPBlock != nil {
			found = append(found, peer.IPBlock.CIDR)
		}
		if peer.NamespaceSelector != nil {
			found = append(found, "namespaces:"+metav1.FormatLabelSelector(peer.NamespaceSelector))
		}
		if peer.PodSelector != nil {
			found = append(found, peer.PodSelector.MatchLabels["app.kubernetes.io/component"])
		}
	}
	return fmt.Sprint(found)
}

func ports(of []networking.NetworkPolicyPort) string {
	var found []string
	for _, port := range of {
		found = append(found, string(*port.Protocol)+"/"+port.Port.String())
	}
	return fmt.Sprint(found)
}

func TestEveryNetworkPolicyIsOfOneKindOfPodsAndOfBothDirections(t *testing.T) {
	in := renderSet(t, "everything")
	both := []networking.PolicyType{networking.PolicyTypeIngress, networking.PolicyTypeEgress}

	for name, by := range map[string]string{
		"demo-tenure": "Deployment", "demo-tenure-migration": "Job", "demo-tenure-test": "Pod",
	} {
		policy := named[*networking.NetworkPolicy](t, in, name).Spec
		expect(t, policy.PolicyTypes, both)
		expect(t, selects(t, in, &policy.PodSelector), []string{by})
	}
}

func TestReplicasAreReachedByClientsAndPrometheusAndReachTheDatabase(t *testing.T) {
	ingress, egress := allowed(t, render(t), "demo-tenure")

	expect(t, ingress, []string{
		"[test server namespaces:<none>] [TCP/7070]",
		"[namespaces:<none>] [TCP/7071]"})
	expect(t, egress, []string{
		"[] [UDP/53 TCP/53]",
		"[namespaces:<none> 0.0.0.0/0 ::/0] [TCP/3306]",
		"[server] [TCP/7070]"})
}

func TestPeersCanBeNarrowed(t *testing.T) {
	in := render(t, `networkPolicy.clients=[{"ipBlock":{"cidr":"192.0.2.0/24"}}]`,
		`networkPolicy.prometheus=[{"namespaceSelector":{"matchLabels":{"team":"monitoring"}}}]`)

	ingress, _ := allowed(t, in, "demo-tenure")

	expect(t, ingress, []string{
		"[test server 192.0.2.0/24] [TCP/7070]",
		"[namespaces:team=monitoring] [TCP/7071]"})
}

// In a rule, an empty list of peers would allow everybody.
func TestNoPeersAreNobody(t *testing.T) {
	in := render(t, `networkPolicy={"clients":[],"prometheus":[],"database":[]}`)

	ingress, egress := allowed(t, in, "demo-tenure")

	expect(t, ingress, []string{"[test server] [TCP/7070]"})
	expect(t, egress, []string{"[] [UDP/53 TCP/53]", "[server] [TCP/7070]"})
}

func TestMoreRulesAreAdded(t *testing.T) {
	ingress, egress := allowed(t, renderSet(t, "everything"), "demo-tenure")

	expect(t, len(ingress), 3)
	expect(t, len(egress), 4)
}

func TestThePortOfTheDatabaseIsTheStores(t *testing.T) {
	in := render(t, `store.port=3310`)

	for _, name := range []string{"demo-tenure", "demo-tenure-migration"} {
		_, egress := allowed(t, in, name)
		expect(t, egress[1], "[namespaces:<none> 0.0.0.0/0 ::/0] [TCP/3310]")
	}
}

func TestTheMigrationIsReachedByNobody(t *testing.T) {
	ingress, _ := allowed(t, render(t), "demo-tenure-migration")

	expect(t, len(ingress), 0)
}

func TestTheTestReachesReplicasOnly(t *testing.T) {
	ingress, egress := allowed(t, render(t), "demo-tenure-test")

	expect(t, len(ingress), 0)
	expect(t, egress, []string{"[] [UDP/53 TCP/53]", "[server] [TCP/7070]"})
}

// Numbers, not names: not every network plugin knows the names of ports.
func TestThePortsThatANetworkPolicyLetsInAreTheContainers(t *testing.T) {
	in := render(t)
	container := tenured(t, in)
	var letIn []int32

	for _, rule := range named[*networking.NetworkPolicy](t, in, "demo-tenure").Spec.Ingress {
		letIn = append(letIn, rule.Ports[0].Port.IntVal)
	}

	expect(t, letIn, []int32{portOf(container, "grpc"), portOf(container, "http")})
}

func TestNetworkPoliciesCanBeLeftOut(t *testing.T) {
	expect(t, len(all[*networking.NetworkPolicy](render(t, `networkPolicy.enabled=false`))), 0)
}
