{{/* What the pods of replicas, of the migration and of the test have in common. */}}
{{- define "tenure.podSettings" -}}
automountServiceAccountToken: false
enableServiceLinks: false # a Service's variables could be mistaken for tenured's own: TENURE_...
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ quote . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The image, and the restrictions of its container. */}}
{{- define "tenure.container" -}}
{{- with .Values.image -}}
image: "{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}"
imagePullPolicy: {{ .pullPolicy }}
{{- end }}
securityContext: {{- toYaml .Values.securityContext | nindent 2 }}
{{- end -}}

{{/* How to reach the store as a user. Takes (list . USER). */}}
{{- define "tenure.storeEnvironment" -}}
{{- $store := (index . 0).Values.store -}}
{{- $addresses := list -}}
{{- range $store.hosts }}{{ $addresses = append $addresses (printf "%s:%d" . (int $store.port)) }}{{ end -}}
- name: TENURE_STORE
  value: {{ printf "mysql://%s@%s/%s" (index . 1) (join "," $addresses) $store.database | quote }}
- name: TENURE_STORE_PASSWORD_FILE
  value: /etc/tenure/store/password
{{- end -}}

{{/* A volume with the password in a Secret. Takes a passwordSecret. */}}
{{- define "tenure.passwordVolume" -}}
- name: store-password
  secret:
    secretName: {{ quote .name }}
    defaultMode: 0440
    items: [{key: {{ .key | quote }}, path: password}]
{{- end -}}
{{- define "tenure.passwordMount" -}}
- {name: store-password, mountPath: /etc/tenure/store, readOnly: true}
{{- end -}}

{{/* The flags of .Values.config as variables: leaseTtlMin is TENURE_LEASE_TTL_MIN. */}}
{{- define "tenure.configEnvironment" -}}
{{- range $flag, $value := .Values.config }}
{{- $text := $value }}
{{- if kindIs "bool" $value }}{{ $text = ternary "true" "" $value }}
{{- else if kindIs "slice" $value }}{{ $text = join "," $value }}
{{- else if not (kindIs "string" $value) }}{{ $text = int64 $value | toString }}
{{- end }}
{{- with $text }}
- name: TENURE_{{ snakecase $flag | upper }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}
