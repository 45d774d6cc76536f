{{- /* What helm uninstall leaves, a line each: where data stays, its claims and the Secrets that open it. */ -}}
{{- define "rockbot.leftovers" -}}
{{- $selector := printf "app.kubernetes.io/instance=%s,app.kubernetes.io/part-of=rockbot" .Release.Name -}}
{{- range $name, $backend := pick .Values "broker" "redis" }}
{{- if and (ne $backend.kind "existing") (eq $backend.storage.kind "claim") }}
{{- if and (eq $name "broker") (eq $backend.kind "cluster-operator") }}
- RabbitmqCluster {{ include "rockbot.broker.name" $ }}, with its claims
{{- else }}
- the claims of {{ include "rockbot.fullname" (dict "root" $ "part" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- if eq (include "rockbot.keeps" .) "true" }}
{{- range $name := tuple "passwords" "credentials" "broker" "redis" }}
{{- $isMade := dict "passwords" (not $.Values.rights.passwordsSecret) "credentials" (ne (include "rockbot.madeCredentials" $) "[]") "broker" (and (eq $.Values.broker.kind "builtin") (not $.Values.broker.existingSecret)) "redis" (and (ne $.Values.redis.kind "existing") (not $.Values.redis.existingSecret)) }}
{{- if index $isMade $name }}
- Secret {{ include "rockbot.fullname" (dict "root" $ "part" $name) }}
{{- end }}
{{- end }}
To remove these, too: kubectl --namespace {{ .Release.Namespace }} delete {{ if eq .Values.broker.kind "cluster-operator" }}rabbitmqclusters,{{ end }}persistentvolumeclaims,secrets --selector {{ $selector }}
{{- end }}
{{- end }}
