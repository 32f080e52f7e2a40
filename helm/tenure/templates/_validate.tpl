{{/* Refuses values that are missing or contradict each other, with one sentence each. */}}
{{- define "tenure.validate" -}}
{{- with .Values.store }}
{{- if not .hosts }}{{ fail "tenure: set store.hosts to the host names of your MySQL or MariaDB." }}{{ end }}
{{- if not .passwordSecret.name }}{{ fail "tenure: set store.passwordSecret.name to an existing Secret with the database password." }}{{ end }}
{{- end }}
{{- with .Values.store.tls }}
{{- $verified := has .mode (list "verify-ca" "verify-identity") }}
{{- if and $verified (not .ca.name) }}{{ fail "tenure: store.tls.mode needs store.tls.ca.name, the Secret with the CA of the database." }}{{ end }}
{{- if and .ca.name (not $verified) }}{{ fail "tenure: store.tls.ca needs store.tls.mode verify-ca or verify-identity." }}{{ end }}
{{- if and .certificateSecret (not (has .mode (list "required" "verify-ca" "verify-identity"))) }}{{ fail "tenure: store.tls.certificateSecret needs store.tls.mode required, verify-ca or verify-identity." }}{{ end }}
{{- end }}
{{- with .Values.tls }}
{{- if and .existingSecret .certManager.enabled }}{{ fail "tenure: set only one of tls.existingSecret and tls.certManager.enabled." }}{{ end }}
{{- if and .certManager.enabled (not .certManager.issuerRef.name) }}{{ fail "tenure: set tls.certManager.issuerRef.name to the issuer of the certificate." }}{{ end }}
{{- if and .clientCa.existingSecret (not .existingSecret) (not .certManager.enabled) }}{{ fail "tenure: tls.clientCa needs tls.existingSecret or tls.certManager.enabled." }}{{ end }}
{{- end }}
{{- with .Values.policy }}
{{- if gt (len (compact (list .inline .existingConfigMap .existingSecret))) 1 }}{{ fail "tenure: set only one of policy.inline, policy.existingConfigMap and policy.existingSecret." }}{{ end }}
{{- end }}
{{- if and (or .Values.test.certificateSecret .Values.test.tokenSecret.name) (not (include "tenure.tlsSecretName" .)) }}{{ fail "tenure: test.certificateSecret and test.tokenSecret need tls.existingSecret or tls.certManager: without TLS the test cannot authenticate." }}{{ end }}
{{- if .Values.autoscaling.enabled }}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) }}{{ fail "tenure: autoscaling.minReplicas is more than autoscaling.maxReplicas; lower the one or raise the other." }}{{ end }}
{{- if not (dig "requests" "cpu" "" .Values.resources) }}{{ fail "tenure: autoscaling needs resources.requests.cpu; set it." }}{{ end }}
{{- end }}
{{- end -}}
