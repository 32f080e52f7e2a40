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
  value: {{ printf "mysql://%s@%s/%s%s" (index . 1) (join "," $addresses) $store.database (include "tenure.storeParameters" $store.tls) | quote }}
- name: TENURE_STORE_PASSWORD_FILE
  value: /etc/tenure/store/password
{{- end -}}

{{/* The parameters of the store's URL. Takes store.tls. */}}
{{- define "tenure.storeParameters" -}}
{{- $parameters := list -}}
{{- with .mode }}{{ $parameters = append $parameters (printf "tls=%s" .) }}{{ end -}}
{{- if .ca.name }}{{ $parameters = append $parameters "tls-ca=/etc/tenure/store-tls/ca.crt" }}{{ end -}}
{{- if .certificateSecret }}{{ $parameters = concat $parameters (list "tls-cert=/etc/tenure/store-tls/tls.crt" "tls-key=/etc/tenure/store-tls/tls.key") }}{{ end -}}
{{- with $parameters }}?{{ join "&" . }}{{ end -}}
{{- end -}}

{{/* What the store's users need: the password, and the files of TLS. Takes (list . PASSWORDSECRET). */}}
{{- define "tenure.storeVolumes" -}}
{{- $tls := (index . 0).Values.store.tls -}}
- name: store-password
  secret:
    secretName: {{ quote (index . 1).name }}
    defaultMode: 0440
    items: [{key: {{ (index . 1).key | quote }}, path: password}]
{{- if or $tls.ca.name $tls.certificateSecret }}
- name: store-tls
  projected:
    defaultMode: 0440
    sources:
      {{- with $tls.ca }}{{ if .name }}
      - secret: {name: {{ quote .name }}, items: [{key: {{ quote .key }}, path: ca.crt}]}
      {{- end }}{{ end }}
      {{- with $tls.certificateSecret }}
      - secret: {name: {{ quote . }}, items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}
      {{- end }}
{{- end }}
{{- end -}}
{{- define "tenure.storeMounts" -}}
- {name: store-password, mountPath: /etc/tenure/store, readOnly: true}
{{- if or .Values.store.tls.ca.name .Values.store.tls.certificateSecret }}
- {name: store-tls, mountPath: /etc/tenure/store-tls, readOnly: true}
{{- end }}
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
