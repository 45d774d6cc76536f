{{- define "rockbot.service.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .service.fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
  {{- with .service.values.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .service.values.service.type }}
  selector:
    {{- include "rockbot.service.selector" . | nindent 4 }}
  ports:
    - { name: http, port: {{ .service.port }}, targetPort: http, appProtocol: http }
{{- end }}
