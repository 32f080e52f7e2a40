{{- define "tenure.dnsEgress" -}}
- ports: # DNS, anywhere
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end -}}

{{/* What replicas and the migration may reach: DNS, the database, and the additional rules. */}}
{{- define "tenure.storeEgress" -}}
{{ include "tenure.dnsEgress" . }}
{{- with .Values.networkPolicy.database }}
- to: {{- toYaml . | nindent 4 }}
  ports:
    - {protocol: TCP, port: {{ $.Values.store.port }}}
{{- end }}
{{- with .Values.networkPolicy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
