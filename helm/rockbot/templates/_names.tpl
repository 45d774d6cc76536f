{{- define "rockbot.managerName" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}-scripts-manager
{{- end }}

{{- define "rockbot.scriptAccount" -}}
rockbot-script
{{- end }}

{{- define "rockbot.priorityClass" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}-script
{{- end }}

{{- define "rockbot.labels" -}}
app.kubernetes.io/part-of: rockbot
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* A container's image: by digest if there is one. */ -}}
{{- define "rockbot.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ default .chart.AppVersion .image.tag }}
{{- end -}}
{{- end }}

{{- /* A setting as a variable's text: helm reads whole numbers of values as floats, which must not become 2e+07; lists are JSON. */ -}}
{{- define "rockbot.settingText" -}}
{{- if kindIs "slice" . }}{{ toJson . }}{{ else if kindIs "float64" . }}{{ if eq (floor .) . }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end }}{{ else }}{{ . }}{{ end }}
{{- end }}
