{{/* The name that all objects start with, short enough for the suffixes. */}}
{{- define "tenure.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 44 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods of one component: server, migration or test. Takes (list . COMPONENT). */}}
{{- define "tenure.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* The labels of an object. Takes (list . COMPONENT). */}}
{{- define "tenure.labels" -}}
{{- $root := index . 0 -}}
{{ include "tenure.selectorLabels" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* The ServiceAccount of the replicas. */}}
{{- define "tenure.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "tenure.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{/* The ServiceAccount of the migration Job. It has its own, since the Job runs before the chart creates the other. */}}
{{- define "tenure.migrationServiceAccountName" -}}
{{- ternary (printf "%s-migration" (include "tenure.fullname" .)) (include "tenure.serviceAccountName" .) .Values.serviceAccount.create -}}
{{- end -}}

{{/* The Secret with the server's certificate; empty without TLS. */}}
{{- define "tenure.tlsSecretName" -}}
{{- if .Values.tls.certManager.enabled -}}
{{ include "tenure.fullname" . }}-tls
{{- else -}}
{{ .Values.tls.existingSecret }}
{{- end -}}
{{- end -}}
