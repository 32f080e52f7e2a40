package helm_test

import (
	"reflect"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	disruption "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestANewReplicaIsReadyBeforeAnOldOneGoes(t *testing.T) {
	strategy := only[*apps.Deployment](t, render(t)).Spec.Strategy

	expect(t, strategy.Type, apps.RollingUpdateDeploymentStrategyType)
	expect(t, *strategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(0))
	expect(t, *strategy.RollingUpdate.MaxSurge, intstr.FromInt32(1))
}

func TestAReplicaHasTimeToLeaveTheServicesAndToDrain(t *testing.T) {
	in := render(t, `shutdown={"preStopSeconds":20,"drainSeconds":40}`)

	expect(t, tenured(t, in).Lifecycle.PreStop.Sleep.Seconds, 20)
	expect(t, variables(tenured(t, in))["TENURE_DRAIN_TIMEOUT"], "40s")
	if grace := *server(t, in).Spec.TerminationGracePeriodSeconds; grace <= 60 {
		t.Errorf("it is killed after %d s", grace)
	}
}

func TestLivenessDoesNotDependOnTheDatabase(t *testing.T) {
	for _, name := range valueSets(t) {
		get := tenured(t, renderSet(t, name)).LivenessProbe.HTTPGet

		expect(t, get.Path, "/healthz")
		expect(t, get.Port, intstr.FromString("http"))
	}
}

func TestReadinessIsAskedByGRPC(t *testing.T) {
	container := tenured(t, render(t))

	expect(t, container.ReadinessProbe.GRPC.Port, portOf(container, "grpc"))
	expect(t, container.ReadinessProbe.HTTPGet, nil)
}

func TestReadinessIsAskedByHTTPWhereGRPCHasTLS(t *testing.T) {
	probe := tenured(t, render(t, `tls.existingSecret="cert"`)).ReadinessProbe

	expect(t, probe.GRPC, nil)
	expect(t, probe.HTTPGet.Path, "/readyz")
	expect(t, probe.HTTPGet.Port, intstr.FromString("http"))
}

func TestProbesCanBeTuned(t *testing.T) {
	probe := tenured(t, render(t, `readinessProbe.periodSeconds=7`)).ReadinessProbe

	expect(t, probe.PeriodSeconds, 7)
	expect(t, probe.FailureThreshold, 3)
}

func TestReplicasListenOnThePortsThatTheContainerNames(t *testing.T) {
	container := tenured(t, render(t))

	expect(t, variables(container)["TENURE_LISTEN"], "0.0.0.0:7070")
	expect(t, variables(container)["TENURE_HTTP_LISTEN"], "0.0.0.0:7071")
	expect(t, variables(container)["TENURE_ADVERTISE"], "$(POD_IP):7070")
	expect(t, portOf(container, "grpc"), 7070)
	expect(t, portOf(container, "http"), 7071)
}

// Zero, if there is no such port.
func portOf(container core.Container, name string) int32 {
	for _, port := range container.Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	return 0
}

func TestTheStoreIsOneDatabaseOnSeveralHosts(t *testing.T) {
	given := variables(tenured(t, renderSet(t, "everything")))

	location, _, _ := strings.Cut(given["TENURE_STORE"], "?")
	expect(t, location,
		"mysql://tenured@db-1.example:3307,db-2.example:3307,[2001:db8::3]:3307/elections")
}

func TestTheConnectionToTheStoreIsSecuredByFilesOfExistingSecrets(t *testing.T) {
	in := renderSet(t, "everything")
	migration, replica := migration(t, in), server(t, in).Spec

	_, parameters, _ := strings.Cut(storeOf(replica), "?")
	expect(t, parameters, "tls=verify-identity&tls-ca=/etc/tenure/store-tls/ca.crt"+
		"&tls-cert=/etc/tenure/store-tls/tls.crt&tls-key=/etc/tenure/store-tls/tls.key")
	expect(t, mountPath(tenured(t, in), "store-tls"), "/etc/tenure/store-tls")
	sources := volume(replica, "store-tls").Projected.Sources
	expect(t, sources[0].Secret.Name, "existing-database-ca")
	expect(t, sources[0].Secret.Items, []core.KeyToPath{{Key: "root.pem", Path: "ca.crt"}})
	expect(t, sources[1].Secret.Name, "existing-database-login")
	expect(t, volume(migration, "store-tls"), volume(replica, "store-tls"))
	expect(t, strings.HasSuffix(storeOf(migration), "?"+parameters), true)
}

func TestTLSToTheStoreNeedsNoFiles(t *testing.T) {
	in := render(t, `store.tls.mode="required"`)

	expect(t, variables(tenured(t, in))["TENURE_STORE"], "mysql://tenure@db.example:3306/tenure?tls=required")
	for _, volume := range server(t, in).Spec.Volumes {
		if volume.Name == "store-tls" {
			t.Error("there is a volume without files")
		}
	}
}

func TestThePasswordIsAFileOfAnExistingSecret(t *testing.T) {
	in := render(t, `store.passwordSecret={"name":"db","key":"tenured"}`)

	expect(t, variables(tenured(t, in))["TENURE_STORE_PASSWORD_FILE"], "/etc/tenure/store/password")
	expect(t, mountPath(tenured(t, in), "store-password"), "/etc/tenure/store")
	secret := volume(server(t, in).Spec, "store-password").Secret
	expect(t, secret.SecretName, "db")
	expect(t, secret.Items, []core.KeyToPath{{Key: "tenured", Path: "password"}})
	expect(t, len(all[*core.Secret](in)), 0)
}

func TestOnlyTheGroupOfThePodReadsItsSecrets(t *testing.T) {
	for _, name := range valueSets(t) {
		for _, pod := range podsOf(renderSet(t, name)) {
			expect(t, pod.spec.SecurityContext.FSGroup, pod.spec.SecurityContext.RunAsGroup)
			for _, volume := range pod.spec.Volumes {
				if volume.Secret != nil {
					expect(t, *volume.Secret.DefaultMode, 0o440)
				}
			}
		}
	}
}

func mountPath(container core.Container, name string) string {
	for _, mount := range container.VolumeMounts {
		if mount.Name == name {
			return mount.MountPath
		}
	}
	return ""
}

// Nothing, if there is no such volume.
func volume(spec core.PodSpec, name string) core.VolumeSource {
	for _, volume := range spec.Volumes {
		if volume.Name == name {
			return volume.VolumeSource
		}
	}
	return core.VolumeSource{}
}

// The version of Tenure that the chart names.
func appVersion(t *testing.T) string {
	t.Helper()
	output, err := helm("show", "chart", chart)
	_, rest, found := strings.Cut(output, "appVersion: ")
	if err != nil || !found {
		t.Fatal(err, output)
	}
	version, _, _ := strings.Cut(rest, "\n")
	return version
}

func TestTheImageIsTheAppVersionATagOrADigest(t *testing.T) {
	const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

	expect(t, tenured(t, render(t)).Image, "tenure:"+appVersion(t))
	expect(t, tenured(t, render(t, `image.tag="edge"`)).Image, "tenure:edge")
	both := render(t, `image.tag="edge"`, `image.digest="`+digest+`"`)
	expect(t, tenured(t, both).Image, "tenure@"+digest)
}

func TestAllPodsRunTheSameImageInTheSamePlaces(t *testing.T) {
	in := renderSet(t, "everything")
	want := server(t, in).Spec

	for _, pod := range podsOf(in) {
		expect(t, pod.spec.Containers[0].Image, want.Containers[0].Image)
		expect(t, pod.spec.ImagePullSecrets, []core.LocalObjectReference{{Name: "registry"}})
		expect(t, pod.spec.NodeSelector, map[string]string{"kubernetes.io/arch": "amd64"})
		expect(t, pod.spec.Tolerations[0].Key, "example/dedicated")
		expect(t, pod.spec.PriorityClassName, "system-cluster-critical")
	}
}

func TestReplicasKeepAwayFromOneNodeIfTheyCan(t *testing.T) {
	in := render(t)
	rules := server(t, in).Spec.Affinity.PodAntiAffinity

	expect(t, len(rules.RequiredDuringSchedulingIgnoredDuringExecution), 0)
	term := rules.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm
	expect(t, term.TopologyKey, core.LabelHostname)
	expect(t, selects(t, in, term.LabelSelector), []string{"Deployment"})
}

func TestReplicasCanBeKeptApart(t *testing.T) {
	rules := server(t, render(t, `antiAffinity="required"`)).Spec.Affinity.PodAntiAffinity

	expect(t, len(rules.PreferredDuringSchedulingIgnoredDuringExecution), 0)
	expect(t, rules.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey, core.LabelHostname)
}

func TestOtherAffinityStandsBesideThatOfTheReplicas(t *testing.T) {
	affinity := server(t, renderSet(t, "everything")).Spec.Affinity

	nodes := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	expect(t, len(nodes.NodeSelectorTerms), 1)
	expect(t, len(affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution), 1)
}

func TestAPodAntiAffinityOfTheUsersTakesThePlaceOfTheCharts(t *testing.T) {
	affinity := server(t, render(t, `affinity={"podAntiAffinity":{}}`)).Spec.Affinity

	expect(t, affinity.PodAntiAffinity, &core.PodAntiAffinity{})
}

func TestReplicasOfOneRevisionSpreadOverZones(t *testing.T) {
	in := render(t)
	constraints := server(t, in).Spec.TopologySpreadConstraints

	expect(t, len(constraints), 1)
	expect(t, constraints[0].TopologyKey, core.LabelTopologyZone)
	expect(t, constraints[0].WhenUnsatisfiable, core.ScheduleAnyway)
	expect(t, constraints[0].MatchLabelKeys, []string{apps.DefaultDeploymentUniqueLabelKey})
	expect(t, selects(t, in, constraints[0].LabelSelector), []string{"Deployment"})
}

func TestASpreadWithASelectorIsLeftAlone(t *testing.T) {
	in := render(t, `topologySpreadConstraints=[{"topologyKey":"rack","maxSkew":2,
		"whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}}}]`)

	expect(t, server(t, in).Spec.TopologySpreadConstraints, []core.TopologySpreadConstraint{{
		TopologyKey: "rack", MaxSkew: 2, WhenUnsatisfiable: core.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}})
}

func TestTheDeploymentSelectsItsOwnPodsAndNoOthers(t *testing.T) {
	in := renderSet(t, "everything")

	expect(t, selects(t, in, only[*apps.Deployment](t, in).Spec.Selector), []string{"Deployment"})
}

func TestTwoReleasesDoNotSelectEachOthersPods(t *testing.T) {
	selector := only[*apps.Deployment](t, render(t)).Spec.Selector

	expect(t, selector.MatchLabels["app.kubernetes.io/instance"], release)
}

func TestLabelsOfTheUsersCannotHideAPodFromItsSelectors(t *testing.T) {
	in := render(t, `podLabels={"app.kubernetes.io/name":"other","team":"platform"}`)

	expect(t, selects(t, in, only[*apps.Deployment](t, in).Spec.Selector), []string{"Deployment"})
	expect(t, server(t, in).Labels["team"], "platform")
}

func TestMoreOfWhatAPodHasIsPassedOn(t *testing.T) {
	in := renderSet(t, "everything")
	container := tenured(t, in)

	expect(t, server(t, in).Annotations, map[string]string{"example/note": "1"})
	expect(t, container.Args, []string{"--log-level", "debug"})
	expect(t, variables(container)["TZ"], "UTC")
	expect(t, mountPath(container, "more"), "/etc/more")
	expect(t, volume(server(t, in).Spec, "more").ConfigMap.Name, "existing-more")
}

func TestAFlagThatChangesRollsThePods(t *testing.T) {
	expect(t, sameTemplate(t, `config.queueMax=5`, `config.queueMax=6`), false)
}

func TestAPolicyThatChangesIsReadAgainAndRollsNothing(t *testing.T) {
	expect(t, sameTemplate(t, `policy.inline="a: 1"`, `policy.inline="a: 2"`), true)
}

func sameTemplate(t *testing.T, before, after string) bool {
	t.Helper()
	return reflect.DeepEqual(server(t, render(t, before)), server(t, render(t, after)))
}

func TestNoDrainTakesTwoReplicasAtOnce(t *testing.T) {
	in := render(t)
	budget := only[*disruption.PodDisruptionBudget](t, in).Spec

	expect(t, *budget.MaxUnavailable, intstr.FromInt32(1))
	expect(t, selects(t, in, budget.Selector), []string{"Deployment"})
}

// Replicas are not ready while the database is away: that is no reason to keep a node.
func TestReplicasThatAreNotReadyDoNotHoldUpADrain(t *testing.T) {
	budget := only[*disruption.PodDisruptionBudget](t, render(t)).Spec

	expect(t, *budget.UnhealthyPodEvictionPolicy, disruption.AlwaysAllow)
}

func TestADisruptionBudgetIsThereWhereThereCanBeTwoReplicas(t *testing.T) {
	for value, want := range map[string]int{
		`replicas=0`: 0, `replicas=1`: 0, `replicas=2`: 1, `podDisruptionBudget.enabled=false`: 0,
		`autoscaling={"enabled":true,"minReplicas":1,"maxReplicas":1}`: 0,
		`autoscaling={"enabled":true,"minReplicas":1,"maxReplicas":2}`: 1,
	} {
		if got := len(all[*disruption.PodDisruptionBudget](render(t, value))); got != want {
			t.Errorf("%s: %d budgets, not %d", value, got, want)
		}
	}
}

func TestADisruptionBudgetMayBeZeroOrAShare(t *testing.T) {
	for value, want := range map[string]intstr.IntOrString{
		`0`: intstr.FromInt32(0), `"50%"`: intstr.FromString("50%"),
	} {
		in := render(t, `podDisruptionBudget.maxUnavailable=`+value)

		expect(t, *only[*disruption.PodDisruptionBudget](t, in).Spec.MaxUnavailable, want)
	}
}

func TestTheNumberOfReplicasIsTheAutoscalersIfThereIsOne(t *testing.T) {
	in := render(t, `autoscaling={"enabled":true,"minReplicas":2,"maxReplicas":9,
		"targetCPUUtilizationPercentage":55}`)
	scaler := only[*autoscaling.HorizontalPodAutoscaler](t, in).Spec

	expect(t, only[*apps.Deployment](t, in).Spec.Replicas, nil)
	expect(t, scaler.ScaleTargetRef, autoscaling.CrossVersionObjectReference{
		APIVersion: "apps/v1", Kind: "Deployment", Name: only[*apps.Deployment](t, in).Name})
	expect(t, *scaler.MinReplicas, 2)
	expect(t, scaler.MaxReplicas, 9)
	expect(t, *scaler.Metrics[0].Resource.Target.AverageUtilization, 55)
}

func TestThereIsNoAutoscalerUnlessAskedFor(t *testing.T) {
	expect(t, len(all[*autoscaling.HorizontalPodAutoscaler](render(t))), 0)
}
