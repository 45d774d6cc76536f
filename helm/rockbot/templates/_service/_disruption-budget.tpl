{{- define "rockbot.service.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .service.fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .service.values.pdb.maxUnavailable }}
  # A pod that is not ready keeps no node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "rockbot.service.selector" . | nindent 6 }}
{{- end }}
