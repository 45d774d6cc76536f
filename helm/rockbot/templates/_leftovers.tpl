{{- /* What helm uninstall leaves, a line each. Parts that keep data name theirs here. */ -}}
{{- define "rockbot.leftovers" -}}
{{- range $name, $backend := pick .Values "broker" "redis" }}
{{- if and (ne $backend.kind "existing") (eq (dig "storage" "kind" "" $backend) "claim") }}
- the claims of {{ include "rockbot.fullname" (dict "root" $ "part" $name) }}: kubectl --namespace {{ $.Release.Namespace }} get persistentvolumeclaims --selector app.kubernetes.io/name={{ $name }}
{{- end }}
{{- end }}
{{- end }}
