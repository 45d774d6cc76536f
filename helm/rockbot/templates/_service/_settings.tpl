{{- /* What the chart decides of a service's settings, over its values, as a JSON object. Secrets are not among them. */ -}}
{{- define "rockbot.service.settings" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $settings := deepCopy $service.values.settings -}}
{{- $every := ternary "::" "0.0.0.0" (eq $root.Values.ipFamily "IPv6") -}}
{{- $_ := set $settings "healthHost" $every -}}
{{- $_ := set $settings "healthPort" 8481 -}}
{{- if $service.port -}}
{{- $_ := set $settings "host" $every -}}
{{- $_ := set $settings "port" $service.port -}}
{{- $hosts := include "rockbot.serviceHosts" (dict "root" $root "part" $service.name) | fromJsonArray -}}
{{- if eq ($service.reachedBy | default "") "outside" -}}
{{- if and $root.Values.ingress.enabled $root.Values.ingress.host -}}{{- $hosts = append $hosts $root.Values.ingress.host -}}{{- end -}}
{{- if $root.Values.httpRoute.enabled -}}{{- $hosts = concat $hosts $root.Values.httpRoute.hostnames -}}{{- end -}}
{{- end -}}
{{- $_ := set $settings "allowedHosts" (concat $hosts ($settings.allowedHosts | default list) | uniq) -}}
{{- end -}}
{{- if $service.onBus -}}
{{- $_ := set $settings "policyFile" "/etc/rockbot/policy/policy.yaml" -}}
{{- end -}}
{{- if $service.readsMcp -}}
{{- $_ := set $settings "mcpConfig" "/etc/rockbot/mcp/mcp.json" -}}
{{- end -}}
{{- if eq (include "rockbot.service.audit" .) "emptyDir" -}}
{{- $_ := set $settings "auditFile" "/var/lib/rockbot/audit/audit.jsonl" -}}
{{- end -}}
{{- if ne (include "rockbot.service.data" .) "none" -}}
{{- $_ := set $settings "dataDirectory" "/var/lib/rockbot/data" -}}
{{- end -}}
{{- if has "cluster" $service.egress -}}
{{- $settings = merge (dict "kubernetesImage" (include "rockbot.scripts.image" $root)) (include "rockbot.scripts.settings" . | fromJson) $settings -}}
{{- end -}}
{{ $settings | toJson }}
{{- end }}

{{- /* Where a service keeps its audit log: none, emptyDir, claim. */ -}}
{{- define "rockbot.service.audit" -}}
{{- if has "audit" .service.state -}}{{ .service.values.audit.kind }}{{- else -}}none{{- end -}}
{{- end }}

{{- /* Where a service keeps its own data: none, emptyDir, claim. */ -}}
{{- define "rockbot.service.data" -}}
{{- if has "data" .service.state -}}{{ .service.values.data.kind }}{{- else -}}none{{- end -}}
{{- end }}

{{- /* The file of its settings. */ -}}
{{- define "rockbot.service.config" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .service.fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
data:
  config.yaml: |
    {{- include "rockbot.service.settings" . | fromJson | toYaml | nindent 4 }}
{{- end }}
