{{- /* Rules for the egress of our pods, as YAML lists. */ -}}

{{- define "rockbot.network.ports" -}}
{{- range . }}
- { protocol: TCP, port: {{ int . }} }
{{- end }}
{{- end }}

{{- /* Public addresses: neither the cluster's, nor private ones, nor what a cloud tells its machines. */ -}}
{{- define "rockbot.network.internet" -}}
{{- $network := .Values.networkPolicy -}}
{{- $four := list -}}{{- $six := list -}}
{{- range $network.excludedCidrs -}}
{{- if contains ":" . -}}{{- $six = append $six . -}}{{- else -}}{{- $four = append $four . -}}{{- end -}}
{{- end -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          {{- toYaml $four | nindent 10 }}
    - ipBlock:
        cidr: ::/0
        except:
          {{- toYaml $six | nindent 10 }}
  ports:
    {{- include "rockbot.network.ports" $network.internetPorts | trim | nindent 4 }}
{{- end }}

{{- /*
The API server: the addresses that the values name; else those that the cluster tells helm, before and behind its Service; else, where helm renders without a
cluster, any address on its ports.
*/ -}}
{{- define "rockbot.network.apiServer" -}}
{{- $api := .Values.networkPolicy.apiServer -}}
{{- $cidrs := $api.cidrs -}}
{{- $ports := $api.ports -}}
{{- if not $cidrs -}}
{{- $slice := lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes" -}}
{{- $service := lookup "v1" "Service" "default" "kubernetes" -}}
{{- range ($slice.endpoints | default list) -}}{{- range .addresses -}}
{{- $cidrs = append $cidrs (printf "%s/%s" . (ternary "128" "32" (contains ":" .))) -}}
{{- end -}}{{- end -}}
{{- range ((($service).spec).clusterIPs | default list) -}}
{{- $cidrs = append $cidrs (printf "%s/%s" . (ternary "128" "32" (contains ":" .))) -}}
{{- end -}}
{{- end -}}
- {{- if $cidrs }}
  to:
    {{- range $cidrs | uniq }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
  {{- end }}
  ports:
    {{- include "rockbot.network.ports" $ports | trim | nindent 4 }}
{{- end }}

{{- /* Redis and RabbitMQ: pods of this release, or what the values say of existing ones. */ -}}
{{- define "rockbot.network.backend" -}}
{{- if eq .values.kind "existing" -}}
- {{- with .values.existing.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  ports:
    {{- include "rockbot.network.ports" .values.existing.ports | trim | nindent 4 }}
{{- else -}}
- to:
    - podSelector:
        matchLabels:
          {{- .selector | nindent 10 }}
  ports:
    {{- include "rockbot.network.ports" .ports | trim | nindent 4 }}
{{- end }}
{{- end }}

{{- define "rockbot.broker.egress" -}}
{{ include "rockbot.network.backend" (dict "values" .Values.broker "selector" (include "rockbot.broker.selector" .) "ports" (list 5672 5671)) }}
{{- end }}

{{- define "rockbot.redis.egress" -}}
{{ include "rockbot.network.backend" (dict "values" .Values.redis "selector" (include "rockbot.selector" (dict "root" . "name" "redis")) "ports" (list 6379 26379)) }}
{{- end }}
