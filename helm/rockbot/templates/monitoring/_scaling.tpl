{{- /* What an autoscaler asks of a service's queue or pods, by `values.autoscaling` of the service: `queueDepth` calls that wait for each replica, `ageSeconds` of the oldest. */ -}}
{{- define "rockbot.scaling.hpaMetrics" -}}
{{- $scaling := .service.values.autoscaling }}
{{- if eq $scaling.kind "cpu" }}
- type: ContainerResource
  containerResource: { name: cpu, container: {{ .service.name }}, target: { type: Utilization, averageUtilization: {{ int $scaling.cpuPercent }} } }
{{- else }}
- type: External
  external:
    metric: { name: rockbot_queue_messages, selector: { matchLabels: { service: {{ .service.name }} } } }
    target: { type: AverageValue, averageValue: {{ int $scaling.queueDepth | quote }} }
- type: External
  external:
    metric: { name: rockbot_queue_age_seconds, selector: { matchLabels: { service: {{ .service.name }} } } }
    target: { type: Value, value: {{ int $scaling.ageSeconds | quote }} }
{{- end }}
{{- end }}

{{- define "rockbot.scaling.kedaTriggers" -}}
{{- $scaling := .service.values.autoscaling }}
{{- $address := .root.Values.monitoring.prometheus.address }}
- type: prometheus
  metadata: { serverAddress: {{ $address | quote }}, query: 'sum(rockbot_queue_messages{namespace="{{ .root.Release.Namespace }}",service="{{ .service.name }}"})', threshold: {{ int $scaling.queueDepth | quote }} }
- type: prometheus
  metricType: Value
  metadata: { serverAddress: {{ $address | quote }}, query: 'max(rockbot_queue_age_seconds{namespace="{{ .root.Release.Namespace }}",service="{{ .service.name }}"})', threshold: {{ int $scaling.ageSeconds | quote }} }
{{- end }}
