{{- /*
How many of a service run, by how many calls wait for it and for how long, or by its processor time. What is asked of which metrics is in "rockbot.scaling.hpaMetrics" and
"rockbot.scaling.kedaTriggers". Never none: without a consumer a call is `unavailable` at once.
*/ -}}
{{- define "rockbot.service.autoscaling" -}}
{{- $scaling := .service.values.autoscaling -}}
{{- if has $scaling.kind (tuple "hpa" "cpu") }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .service.fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .service.fullname }} }
  minReplicas: {{ int $scaling.min }}
  maxReplicas: {{ int $scaling.max }}
  behavior:
    scaleDown: { stabilizationWindowSeconds: 300 }
  metrics:
    {{- include "rockbot.scaling.hpaMetrics" . | trim | nindent 4 }}
{{- else if eq $scaling.kind "keda" }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .service.fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { name: {{ .service.fullname }} }
  minReplicaCount: {{ int $scaling.min }}
  maxReplicaCount: {{ int $scaling.max }}
  cooldownPeriod: 300
  triggers:
    {{- include "rockbot.scaling.kedaTriggers" . | trim | nindent 4 }}
{{- end }}
{{- end }}
