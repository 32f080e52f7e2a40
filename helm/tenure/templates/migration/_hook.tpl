{{/* Before all that is installed or upgraded; in the order of the weight. What failed stays to be looked at. */}}
{{- define "tenure.migrationHook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ quote . }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
