{{- define "rockbot.broker.name" -}}
{{ include "rockbot.fullname" (dict "root" . "part" "broker") }}
{{- end }}

{{- /* Which finds the pods one by one, ready or not. */ -}}
{{- define "rockbot.broker.nodes" -}}
{{ include "rockbot.broker.name" . }}-nodes
{{- end }}

{{- define "rockbot.broker.nodeDomain" -}}
{{ include "rockbot.broker.nodes" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end }}

{{- /* The Secret with the administrator, `username` and `password`, and with `erlang-cookie` where the chart runs the broker. */ -}}
{{- define "rockbot.broker.secret" -}}
{{- if eq .Values.broker.kind "cluster-operator" -}}
{{ include "rockbot.broker.name" . }}-default-user
{{- else -}}
{{ .Values.broker.existingSecret | default (include "rockbot.broker.name" .) }}
{{- end -}}
{{- end }}

{{- /* The address of the bus for a user: `dict "root" $ "user" NAME "password" TEXT`. */ -}}
{{- define "rockbot.broker.url" -}}
{{- $tls := .root.Values.broker.tls.existingSecret -}}
{{ ternary "amqps" "amqp" (not (empty $tls)) }}://{{ .user }}:{{ .password }}@{{ include "rockbot.broker.name" .root }}.{{ .root.Release.Namespace }}.svc:{{ ternary 5671 5672 (not (empty $tls)) }}
{{- end }}

{{- define "rockbot.broker.managementUrl" -}}
{{- if eq .Values.broker.kind "existing" -}}
{{ .Values.broker.existing.managementUrl }}
{{- else -}}
{{- $tls := not (empty .Values.broker.tls.existingSecret) -}}
{{ ternary "https" "http" $tls }}://{{ include "rockbot.broker.name" . }}.{{ .Release.Namespace }}.svc:{{ include "rockbot.broker.managementPort" . }}
{{- end -}}
{{- end }}

{{- /* With TLS the administrator's password goes over it, too. */ -}}
{{- define "rockbot.broker.managementPort" -}}
{{ ternary 15671 15672 (not (empty .Values.broker.tls.existingSecret)) }}
{{- end }}

{{- /* The configuration of RabbitMQ that RockBot relies on, whoever runs it. */ -}}
{{- define "rockbot.broker.configuration" -}}
{{ .Files.Get "files/broker/rabbitmq.conf" | trim }}
{{- if gt (int .Values.broker.replicas) 1 }}
# A queue that was declared while a node was away gets its copy there.
quorum_queue.continuous_membership_reconciliation.enabled = true
quorum_queue.continuous_membership_reconciliation.target_group_size = {{ min 3 (int .Values.broker.replicas) }}
{{- end }}
{{- end }}

{{- /* By which its pods are found. The operator names them itself. */ -}}
{{- define "rockbot.broker.selector" -}}
{{- if eq .Values.broker.kind "cluster-operator" -}}
app.kubernetes.io/name: {{ include "rockbot.broker.name" . }}
app.kubernetes.io/component: rabbitmq
{{- else -}}
{{ include "rockbot.selector" (dict "root" . "name" "broker") }}
{{- end -}}
{{- end }}
