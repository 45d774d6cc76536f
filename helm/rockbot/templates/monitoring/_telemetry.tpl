{{- /* Where traces, logs and metrics go by OpenTelemetry, for each of our containers. */ -}}
{{- define "rockbot.telemetry.env" -}}
{{- with .root.Values.monitoring.otlp.endpoint }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }} }
- { name: OTEL_RESOURCE_ATTRIBUTES, value: "k8s.namespace.name={{ $.root.Release.Namespace }},k8s.pod.name=$(POD_NAME)" }
{{- end }}
{{- end }}

{{- define "rockbot.telemetry.egress" -}}
{{- if .Values.monitoring.otlp.endpoint }}
{{- toYaml .Values.monitoring.otlp.egress }}
{{- else -}}
[]
{{- end }}
{{- end }}
