{{- define "rockbot.service.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .service.fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
  {{- with .service.values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
# A deployment that needs the token asks for it itself, so that nothing else that names the account gets it.
automountServiceAccountToken: false
{{- end }}
