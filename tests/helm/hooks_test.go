package helm_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

func TestTheSchemaIsBroughtUpToDateBeforeTheReplicasAre(t *testing.T) {
	in := render(t)
	job := only[*batch.Job](t, in)

	expect(t, hooks(job), []string{"pre-install", "pre-upgrade"})
	expect(t, job.Spec.Template.Spec.Containers[0].Args, []string{"migrate"})
	expect(t, variables(tenured(t, in))["TENURE_NO_MIGRATE"], "true")
}

func TestReplicasBringTheSchemaUpToDateIfNoJobDoes(t *testing.T) {
	in := render(t, `migration.enabled=false`)

	expect(t, len(all[*batch.Job](in)), 0)
	expect(t, variables(tenured(t, in))["TENURE_NO_MIGRATE"], "")
	for _, object := range in {
		expect(t, slices.Contains(hooks(object), "pre-install"), false)
	}
}

// The release's own objects are not there when the hook runs.
func TestTheNeedsOfTheMigrationAreThereBeforeIt(t *testing.T) {
	in := render(t)
	job := only[*batch.Job](t, in)

	account := named[*core.ServiceAccount](t, in, job.Spec.Template.Spec.ServiceAccountName)
	policy := named[*networking.NetworkPolicy](t, in, job.Name)
	for _, needed := range []map[string]string{account.Annotations, policy.Annotations} {
		expect(t, needed["helm.sh/hook"], job.Annotations["helm.sh/hook"])
		expect(t, weight(t, needed) < weight(t, job.Annotations), true)
	}
}

func weight(t *testing.T, annotations map[string]string) int {
	t.Helper()
	found, err := strconv.Atoi(annotations["helm.sh/hook-weight"])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheNextMigrationIsNotHinderedByTheLast(t *testing.T) {
	for _, object := range renderSet(t, "everything") {
		if len(hooks(object)) > 0 {
			policy := accessor(object).GetAnnotations()["helm.sh/hook-delete-policy"]
			expect(t, policy, "before-hook-creation,hook-succeeded")
		}
	}
}

func TestTheMigrationUsesTheStoresUserIfItHasNoneOfItsOwn(t *testing.T) {
	in := render(t)
	migration, replica := migration(t, in), server(t, in).Spec

	expect(t, storeOf(migration), storeOf(replica))
	expect(t, volume(migration, "store-password"), volume(replica, "store-password"))
}

func TestTheMigrationMayBeAnotherUsersThanTheReplicas(t *testing.T) {
	in := render(t, `migration={"user":"owner","passwordSecret":{"name":"owner-password"}}`)
	migration, replica := migration(t, in), server(t, in).Spec

	expect(t, storeOf(migration), "mysql://owner@db.example:3306/tenure")
	expect(t, volume(migration, "store-password").Secret.SecretName, "owner-password")
	expect(t, storeOf(replica), "mysql://tenure@db.example:3306/tenure")
	expect(t, volume(replica, "store-password").Secret.SecretName, "existing-password")
}

func storeOf(spec core.PodSpec) string { return variables(spec.Containers[0])["TENURE_STORE"] }

func TestTheMigrationEnds(t *testing.T) {
	in := render(t, `migration={"backoffLimit":0,"activeDeadlineSeconds":60}`)
	job := only[*batch.Job](t, in)

	expect(t, *job.Spec.BackoffLimit, 0)
	expect(t, *job.Spec.ActiveDeadlineSeconds, 60)
	expect(t, job.Spec.Template.Spec.RestartPolicy, core.RestartPolicyNever)
}

func TestEveryPodUsesAServiceAccountThatExists(t *testing.T) {
	in := render(t, `serviceAccount={"create":false,"name":"mine"}`)

	expect(t, len(all[*core.ServiceAccount](in)), 0)
	for _, pod := range podsOf(in) {
		expect(t, pod.spec.ServiceAccountName, "mine")
	}
}

func TestWithoutAServiceAccountOfItsOwnAPodUsesTheNamespaces(t *testing.T) {
	expect(t, server(t, render(t, `serviceAccount.create=false`)).Spec.ServiceAccountName, "default")
}

func TestServiceAccountsHaveTheAnnotationsAndNoToken(t *testing.T) {
	for _, account := range all[*core.ServiceAccount](renderSet(t, "everything")) {
		expect(t, account.Annotations["example/role"], "tenure")
		expect(t, account.AutomountServiceAccountToken, new(false))
	}
}

func TestHelmTestLeadsAnElectionThroughTheService(t *testing.T) {
	in := render(t, `test.election="smoke"`, `service.port=7000`)
	pod := only[*core.Pod](t, in)
	container := pod.Spec.Containers[0]

	expect(t, hooks(pod), []string{"test"})
	expect(t, pod.Spec.RestartPolicy, core.RestartPolicyNever)
	expect(t, container.Command,
		[]string{"tenure", "run", "--wait", "30s", "smoke", "--", "tenure", "leader", "smoke"})
	service := named[*core.Service](t, in, "demo-tenure")
	expect(t, variables(container)["TENURE_ENDPOINTS"], service.Name+".elections.svc:7000")
	expect(t, service.Spec.Ports[0].Port, 7000)
}

func TestHelmTestTrustsTheAuthorityOfTheCertificate(t *testing.T) {
	for _, set := range []string{"everything", "existing"} {
		in := renderSet(t, set)
		pod := only[*core.Pod](t, in)
		container := pod.Spec.Containers[0]

		expect(t, variables(container)["TENURE_CLIENT_TLS_CA"], mountPath(container, "server-ca")+"/ca.crt")
		ca := volume(pod.Spec, "server-ca").Secret
		expect(t, ca.SecretName, volume(server(t, in).Spec, "tls").Secret.SecretName)
		expect(t, ca.Items, []core.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}) // and not its key
		expect(t, ca.Optional, new(true))
	}
}

func TestHelmTestTrustsTheAuthoritiesOfTheImageIfTheSecretHasNone(t *testing.T) {
	in := renderSet(t, "existing", `test.serverCaKey=""`)
	pod := only[*core.Pod](t, in)

	expect(t, variables(pod.Spec.Containers[0])["TENURE_CLIENT_TLS"], "true")
	expect(t, variables(pod.Spec.Containers[0])["TENURE_CLIENT_TLS_CA"], "")
	expect(t, len(pod.Spec.Volumes), 0)
}

func TestHelmTestShowsWhoItIs(t *testing.T) {
	pod := only[*core.Pod](t, renderSet(t, "everything"))
	container := pod.Spec.Containers[0]
	given := variables(container)

	certificate := mountPath(container, "certificate")
	expect(t, given["TENURE_CLIENT_TLS_CERT"], certificate+"/tls.crt")
	expect(t, given["TENURE_CLIENT_TLS_KEY"], certificate+"/tls.key")
	expect(t, volume(pod.Spec, "certificate").Secret.SecretName, "existing-client")
	expect(t, given["TENURE_CLIENT_TOKEN_FILE"], mountPath(container, "token")+"/token")
	expect(t, volume(pod.Spec, "token").Secret.SecretName, "existing-token")
}

func TestHelmTestHasNoFilesWithoutTLS(t *testing.T) {
	pod := only[*core.Pod](t, render(t))

	for name := range variables(pod.Spec.Containers[0]) {
		expect(t, strings.HasPrefix(name, "TENURE_CLIENT_TLS"), false)
	}
	expect(t, len(pod.Spec.Volumes), 0)
}
