{{/* Runs before everything else that is installed or upgraded, in the order of the weights. A failed object is kept for inspection. */}}
{{- define "tenure.migrationHook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ quote . }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
