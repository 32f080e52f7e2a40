{{/* What the pod of `helm test` needs to trust the replicas and to authenticate. All take the root. */}}
{{- define "tenure.clientEnvironment" -}}
{{- if include "tenure.tlsSecretName" . }}
- name: TENURE_CLIENT_TLS
  value: "true"
{{- if .Values.test.serverCaKey }}
- name: TENURE_CLIENT_TLS_CA
  value: /etc/tenure/server-ca/ca.crt
{{- end }}
{{- end }}
{{- if .Values.test.certificateSecret }}
- name: TENURE_CLIENT_TLS_CERT
  value: /etc/tenure/certificate/tls.crt
- name: TENURE_CLIENT_TLS_KEY
  value: /etc/tenure/certificate/tls.key
{{- end }}
{{- if .Values.test.tokenSecret.name }}
- name: TENURE_CLIENT_TOKEN_FILE
  value: /etc/tenure/token/token
{{- end }}
{{- end -}}

{{- define "tenure.clientMounts" -}}
{{- if and (include "tenure.tlsSecretName" .) .Values.test.serverCaKey }}
- {name: server-ca, mountPath: /etc/tenure/server-ca, readOnly: true}
{{- end }}
{{- if .Values.test.certificateSecret }}
- {name: certificate, mountPath: /etc/tenure/certificate, readOnly: true}
{{- end }}
{{- if .Values.test.tokenSecret.name }}
- {name: token, mountPath: /etc/tenure/token, readOnly: true}
{{- end }}
{{- end -}}

{{- define "tenure.clientVolumes" -}}
{{- if and (include "tenure.tlsSecretName" .) .Values.test.serverCaKey }}
- name: server-ca
  secret:
    secretName: {{ include "tenure.tlsSecretName" . | quote }}
    defaultMode: 0440
    optional: true # if a key is missing, the test starts and reports it
    items: [{key: {{ .Values.test.serverCaKey | quote }}, path: ca.crt}]
{{- end }}
{{- with .Values.test.certificateSecret }}
- name: certificate
  secret: {secretName: {{ quote . }}, defaultMode: 0440}
{{- end }}
{{- with .Values.test.tokenSecret }}
{{- if .name }}
- name: token
  secret:
    secretName: {{ quote .name }}
    defaultMode: 0440
    items: [{key: {{ .key | quote }}, path: token}]
{{- end }}
{{- end }}
{{- end -}}
