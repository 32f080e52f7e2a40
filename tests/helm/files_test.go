package helm_test

import (
	"slices"
	"strings"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	core "k8s.io/api/core/v1"
)

func TestWithoutTLSThereAreNoFilesOfIt(t *testing.T) {
	in := render(t)

	for name := range variables(tenured(t, in)) {
		expect(t, strings.HasPrefix(name, "TENURE_TLS_"), false)
	}
	expect(t, volume(server(t, in).Spec, "tls"), core.VolumeSource{})
}

func TestTheCertificateCanBeThatOfASecret(t *testing.T) {
	in := renderSet(t, "existing")
	container := tenured(t, in)

	expect(t, volume(server(t, in).Spec, "tls").Secret.SecretName, "existing-certificate")
	expect(t, variables(container)["TENURE_TLS_CERT"], mountPath(container, "tls")+"/tls.crt")
	expect(t, variables(container)["TENURE_TLS_KEY"], mountPath(container, "tls")+"/tls.key")
	expect(t, len(all[*certmanager.Certificate](in)), 0)
}

func TestTheCertificateCanBeMadeByCertManager(t *testing.T) {
	in := renderSet(t, "everything")
	certificate := only[*certmanager.Certificate](t, in).Spec

	expect(t, certificate.IssuerRef.Name, "internal")
	expect(t, certificate.IssuerRef.Kind, "ClusterIssuer")
	expect(t, volume(server(t, in).Spec, "tls").Secret.SecretName, certificate.SecretName)
}

// With an authority for clients, replicas that follow each other show it, too.
func TestTheCertificateIsFitForServersAndClients(t *testing.T) {
	in := render(t, `tls={"certManager":{"enabled":true,"issuerRef":{"name":"internal"}},"clientCa":{"existingSecret":"ca"}}`)
	usages := only[*certmanager.Certificate](t, in).Spec.Usages

	expect(t, slices.Contains(usages, certmanager.UsageServerAuth), true)
	expect(t, slices.Contains(usages, certmanager.UsageClientAuth), true)
}

func TestTheCertificateIsGoodForEveryNameOfBothServices(t *testing.T) {
	in := renderSet(t, "everything")
	names := only[*certmanager.Certificate](t, in).Spec.DNSNames

	for _, service := range all[*core.Service](in) {
		for _, domain := range []string{
			"", ".elections", ".elections.svc", ".elections.svc.cluster.local",
		} {
			if !slices.Contains(names, service.Name+domain) {
				t.Errorf("%s%s is not in %v", service.Name, domain, names)
			}
		}
	}
	expect(t, slices.Contains(names, "tenure.example"), true)
}

// The Secrets that cert-manager is asked to make.
func certificateSecrets(in objects) []string {
	var found []string
	for _, certificate := range all[*certmanager.Certificate](in) {
		found = append(found, certificate.Spec.SecretName)
	}
	return found
}

func TestClientsShowCertificatesOfAnAuthority(t *testing.T) {
	in := renderSet(t, "existing")
	given := variables(tenured(t, in))

	expect(t, given["TENURE_TLS_CLIENT_CA"], mountPath(tenured(t, in), "client-ca")+"/ca.crt")
	expect(t, given["TENURE_TLS_CLIENT_CERTS"], "optional")
	secret := volume(server(t, in).Spec, "client-ca").Secret
	expect(t, secret.SecretName, "existing-client-ca")
	expect(t, secret.Items, []core.KeyToPath{{Key: "root.pem", Path: "ca.crt"}})
}

func TestClientsNeedACertificateIfThereIsAnAuthority(t *testing.T) {
	in := render(t, `tls={"existingSecret":"cert","clientCa":{"existingSecret":"ca"}}`)

	expect(t, variables(tenured(t, in))["TENURE_TLS_CLIENT_CERTS"], "required")
}

func TestThereIsNoPolicyUnlessAskedFor(t *testing.T) {
	in := render(t)

	expect(t, variables(tenured(t, in))["TENURE_POLICY"], "")
	expect(t, len(all[*core.ConfigMap](in)), 0)
}

func TestAPolicyOfTheValuesIsAConfigMapWordForWord(t *testing.T) {
	const text = "# {{ not a template }}\nlimits: {queue: 1000000000}\n"
	in := render(t, `policy.inline="# {{ not a template }}\nlimits: {queue: 1000000000}\n"`)

	expect(t, only[*core.ConfigMap](t, in).Data, map[string]string{"policy.yaml": text})
	expect(t, volume(server(t, in).Spec, "policy").ConfigMap.Name, only[*core.ConfigMap](t, in).Name)
	expectPolicyFile(t, in)
}

func TestAPolicyCanBeThatOfAConfigMap(t *testing.T) {
	in := render(t, `policy={"existingConfigMap":"rules","key":"rules.yaml"}`)

	source := volume(server(t, in).Spec, "policy").ConfigMap
	expect(t, source.Name, "rules")
	expect(t, source.Items, []core.KeyToPath{{Key: "rules.yaml", Path: "policy.yaml"}})
	expect(t, len(all[*core.ConfigMap](in)), 0)
	expectPolicyFile(t, in)
}

func TestAPolicyCanBeThatOfASecret(t *testing.T) {
	in := renderSet(t, "existing")

	source := volume(server(t, in).Spec, "policy").Secret
	expect(t, source.SecretName, "existing-policy")
	expect(t, source.Items, []core.KeyToPath{{Key: "rules.yaml", Path: "policy.yaml"}})
	expectPolicyFile(t, in)
}

func expectPolicyFile(t *testing.T, in objects) {
	t.Helper()
	container := tenured(t, in)
	expect(t, variables(container)["TENURE_POLICY"], mountPath(container, "policy")+"/policy.yaml")
}

func TestTokensAreFilesOfASecret(t *testing.T) {
	in := renderSet(t, "existing")

	expect(t, volume(server(t, in).Spec, "tokens").Secret.SecretName, "existing-tokens")
	expect(t, mountPath(tenured(t, in), "tokens"), "/etc/tenure/tokens")
}
