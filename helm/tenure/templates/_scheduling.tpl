{{/* .Values.affinity, with the replicas' distaste for one node if it does not say otherwise. */}}
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

{{/* .Values.topologySpreadConstraints, each over the replicas of one revision if it does not say otherwise. */}}
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
