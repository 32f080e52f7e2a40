{{/* The files of a replica that it reloads when they change. Each has its own folder, so that changes of
     its Secret or ConfigMap arrive. All take the root. */}}
{{- define "tenure.filesEnvironment" -}}
{{- if include "tenure.tlsSecretName" . }}
- name: TENURE_TLS_CERT
  value: /etc/tenure/tls/tls.crt
- name: TENURE_TLS_KEY
  value: /etc/tenure/tls/tls.key
{{- end }}
{{- if .Values.tls.clientCa.existingSecret }}
- name: TENURE_TLS_CLIENT_CA
  value: /etc/tenure/client-ca/ca.crt
- name: TENURE_TLS_CLIENT_CERTS
  value: {{ .Values.tls.clientCerts }}
{{- end }}
{{- if include "tenure.policyVolume" . }}
- name: TENURE_POLICY
  value: /etc/tenure/policy/policy.yaml
{{- end }}
{{- end -}}

{{- define "tenure.filesMounts" -}}
{{- if include "tenure.tlsSecretName" . }}
- {name: tls, mountPath: /etc/tenure/tls, readOnly: true}
{{- end }}
{{- if .Values.tls.clientCa.existingSecret }}
- {name: client-ca, mountPath: /etc/tenure/client-ca, readOnly: true}
{{- end }}
{{- if include "tenure.policyVolume" . }}
- {name: policy, mountPath: /etc/tenure/policy, readOnly: true}
{{- end }}
{{- if .Values.policy.tokensSecret }}
- {name: tokens, mountPath: /etc/tenure/tokens, readOnly: true}
{{- end }}
{{- end -}}

{{- define "tenure.filesVolumes" -}}
{{- with include "tenure.tlsSecretName" . }}
- name: tls
  secret: {secretName: {{ quote . }}, defaultMode: 0440}
{{- end }}
{{- with .Values.tls.clientCa }}
{{- if .existingSecret }}
- name: client-ca
  secret:
    secretName: {{ quote .existingSecret }}
    defaultMode: 0440
    items: [{key: {{ .key | quote }}, path: ca.crt}]
{{- end }}
{{- end }}
{{- with include "tenure.policyVolume" . }}
{{ . }}
{{- end }}
{{- with .Values.policy.tokensSecret }}
- name: tokens
  secret: {secretName: {{ quote . }}, defaultMode: 0440}
{{- end }}
{{- end -}}

{{/* Empty without a policy. */}}
{{- define "tenure.policyVolume" -}}
{{- $items := printf "[{key: %s, path: policy.yaml}]" (quote .Values.policy.key) -}}
{{- if .Values.policy.existingSecret -}}
- name: policy
  secret: {secretName: {{ quote .Values.policy.existingSecret }}, defaultMode: 0440, items: {{ $items }}}
{{- else if .Values.policy.existingConfigMap -}}
- name: policy
  configMap: {name: {{ quote .Values.policy.existingConfigMap }}, items: {{ $items }}}
{{- else if .Values.policy.inline -}}
- name: policy
  configMap: {name: {{ include "tenure.fullname" . }}-policy, items: {{ $items }}}
{{- end -}}
{{- end -}}
