{{- define "rockbot.policyConfigMap" -}}
{{ .Values.policy.existingConfigMap | default (include "rockbot.fullname" (dict "root" . "part" "policy")) }}
{{- end }}

{{- define "rockbot.mcpConfigMap" -}}
{{ .Values.mcp.existingConfigMap | default (include "rockbot.fullname" (dict "root" . "part" "mcp")) }}
{{- end }}

{{- /* The text of the policy; empty where it is a ConfigMap of yours. */ -}}
{{- define "rockbot.policyText" -}}
{{- if not .Values.policy.existingConfigMap -}}
{{ .Values.policy.text | default (.Files.Get "files/policy.yaml") }}
{{- end -}}
{{- end }}

{{- /* MCP servers of this release that a service reaches, as a JSON list: {server, url, variable, secret}. `system-info-mcp` is `system-info`, its token SYSTEM_INFO_TOKEN. */ -}}
{{- define "rockbot.mcp.tokens" -}}
{{- $root := .root -}}{{- $reachedBy := .reachedBy -}}
{{- $tokens := list -}}
{{- range (include "rockbot.services" $root | fromJson).services -}}
{{- if and (eq (.reachedBy | default "") $reachedBy) (has "MCP_TOKEN" .required) -}}
{{- $server := trimSuffix "-mcp" .name -}}
{{- $secrets := include "rockbot.service.secrets" (dict "root" $root "service" .) | fromJson -}}
{{- $tokens = append $tokens (dict "server" $server "url" (printf "http://%s:%d/mcp" .fullname (int .port)) "variable" (printf "%s_TOKEN" ($server | replace "-" "_" | upper)) "secret" $secrets.MCP_TOKEN) -}}
{{- end -}}
{{- end -}}
{{ $tokens | toJson }}
{{- end }}
