{{- /* Whom a service talks to, and who to it; everything else is dropped. scripts/deployment/who-talks.ts says the same, and a test compares them. */ -}}
{{- define "rockbot.service.networkPolicy" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $network := $root.Values.networkPolicy -}}
{{- $isOutside := eq ($service.reachedBy | default "") "outside" -}}
{{- $ingress := list -}}
{{- with $network.monitoring -}}
{{- $ingress = append $ingress (dict "from" . "ports" (list (dict "protocol" "TCP" "port" 8481))) -}}
{{- end -}}
{{- if $service.port -}}
{{- $from := list -}}
{{- if $isOutside -}}
{{- $from = $network.clients -}}
{{- if $root.Values.tests.enabled -}}{{- $from = append $from (dict "podSelector" (dict "matchLabels" (include "rockbot.selector" (dict "root" $root "name" "test") | fromYaml))) -}}{{- end -}}
{{- else if $service.reachedBy -}}
{{- $from = list (dict "podSelector" (dict "matchLabels" (include "rockbot.selector" (dict "root" $root "name" $service.reachedBy) | fromYaml))) -}}
{{- end -}}
{{- if $from -}}
{{- $ingress = append $ingress (dict "from" $from "ports" (list (dict "protocol" "TCP" "port" $service.port))) -}}
{{- end -}}
{{- end -}}
{{- $egress := list -}}
{{- if $service.onBus -}}{{- $egress = concat $egress (include "rockbot.broker.egress" $root | fromYamlArray) -}}{{- end -}}
{{- if $service.usesRedis -}}{{- $egress = concat $egress (include "rockbot.redis.egress" $root | fromYamlArray) -}}{{- end -}}
{{- range (include "rockbot.services" $root | fromJson).services -}}
{{- if eq (.reachedBy | default "") $service.name -}}
{{- $egress = append $egress (dict "to" (list (dict "podSelector" (dict "matchLabels" (include "rockbot.selector" (dict "root" $root "name" .name) | fromYaml)))) "ports" (list (dict "protocol" "TCP" "port" .port))) -}}
{{- end -}}
{{- end -}}
{{- if has "cluster" $service.egress -}}{{- $egress = concat $egress (include "rockbot.network.apiServer" $root | fromYamlArray) -}}{{- end -}}
{{- if eq (include "rockbot.service.internet" .) "true" -}}{{- $egress = concat $egress (include "rockbot.network.internet" $root | fromYamlArray) -}}{{- end -}}
{{- $egress = concat $egress (include "rockbot.telemetry.egress" $root | fromYamlArray) $service.values.egress -}}
{{- if $egress -}}{{- $egress = concat $network.dns $egress -}}{{- end -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $service.fullname }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "rockbot.service.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- toYaml ($ingress | default list) | nindent 4 }}
  egress:
    {{- toYaml ($egress | default list) | nindent 4 }}
{{- end }}

{{- /* Whether a service reaches public addresses: as its values say, else as files/services.json does. */ -}}
{{- define "rockbot.service.internet" -}}
{{- if hasKey .service.values "internet" -}}{{ .service.values.internet }}{{- else -}}{{ has "internet" .service.egress }}{{- end -}}
{{- end }}
