{{/* .Values.affinity; unless it has a podAntiAffinity, replicas avoid each other's nodes. */}}
{{- define "tenure.affinity" -}}
{{- $apart := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (include "tenure.serverSelector" . | fromYaml) -}}
{{- $affinity := deepCopy .Values.affinity -}}
{{- if hasKey $affinity "podAntiAffinity" -}}
{{- else if eq .Values.antiAffinity "required" -}}
{{- $_ := set $affinity "podAntiAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $apart)) -}}
{{- else if eq .Values.antiAffinity "preferred" -}}
{{- $_ := set $affinity "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" (list (dict "weight" 100 "podAffinityTerm" $apart))) -}}
{{- end -}}
{{- toYaml $affinity -}}
{{- end -}}

{{/* .Values.topologySpreadConstraints; each applies to the replicas of one revision by default. */}}
{{- define "tenure.topologySpreadConstraints" -}}
{{- $replicas := dict "labelSelector" (include "tenure.serverSelector" . | fromYaml) "matchLabelKeys" (list "pod-template-hash") -}}
{{- $constraints := list -}}
{{- range .Values.topologySpreadConstraints -}}
{{- $constraints = append $constraints (hasKey . "labelSelector" | ternary . (merge (deepCopy .) $replicas)) -}}
{{- end -}}
{{- toYaml $constraints -}}
{{- end -}}

{{- define "tenure.serverSelector" -}}
matchLabels: {{- include "tenure.selectorLabels" (list . "server") | nindent 2 }}
{{- end -}}
