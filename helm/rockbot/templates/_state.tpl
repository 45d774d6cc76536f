{{- /*
What the broker and Redis have in common, as pods that keep data. The arguments of each: those of "rockbot.partLabels", the part's `values`, and its `fullname`.
*/ -}}

{{- define "rockbot.state.pod" -}}
{{- $root := .root -}}
serviceAccountName: {{ .fullname }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .values.priorityClassName | default (ternary (include "rockbot.fullname" (dict "root" $root "part" "state")) "" $root.Values.priorityClasses.create) }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- include "rockbot.users.of" .values.podSecurityContext | nindent 2 }}
{{- with $root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- include "rockbot.topologySpread" (dict "over" .values.topologySpread "labels" (include "rockbot.selector" .)) | nindent 2 }}
{{- end }}

{{- define "rockbot.state.volume" -}}
{{- if ne .values.storage.kind "claim" -}}
- { name: data, emptyDir: { sizeLimit: {{ .values.storage.size }} } }
{{- end }}
{{- end }}

{{- /* Claims stay when the release is gone. */ -}}
{{- define "rockbot.state.claims" -}}
{{- if eq .values.storage.kind "claim" -}}
volumeClaimTemplates:
  - metadata:
      name: data
      labels:
        app.kubernetes.io/part-of: rockbot
        {{- include "rockbot.selector" . | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .values.storage.className }}
      storageClassName: {{ . }}
      {{- end }}
      resources: { requests: { storage: {{ .values.storage.size }} } }
{{- end }}
{{- end }}

{{- define "rockbot.state.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.partLabels" . | nindent 4 }}
automountServiceAccountToken: false
{{- end }}

{{- /* One at a time, so that the others keep a majority. */ -}}
{{- define "rockbot.state.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .fullname }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "rockbot.partLabels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "rockbot.selector" . | nindent 6 }}
{{- end }}

{{- /* Pods of this release that use the part, as peers of a NetworkPolicy: `dict "root" $ "uses" onBus|usesRedis`. */ -}}
{{- define "rockbot.state.users" -}}
{{- range (include "rockbot.services" .root | fromJson).services }}
{{- if index . $.uses }}
- podSelector:
    matchLabels:
      {{- include "rockbot.selector" (dict "root" $.root "name" .name) | nindent 6 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What is wrong with the values of the broker, Redis and the rights Job, as a JSON list. */ -}}
{{- define "rockbot.state.faults" -}}
{{- $faults := list -}}
{{- $broker := .Values.broker -}}{{- $redis := .Values.redis -}}{{- $rights := .Values.rights -}}
{{- if and $rights.enabled (eq $broker.kind "existing") -}}
{{- if not $broker.existing.managementUrl -}}{{- $faults = append $faults "broker.existing.managementUrl: name the management API of your broker, such as https://broker.example:15671, or set rights.enabled to false" -}}{{- end -}}
{{- if and .Values.production (hasPrefix "http:" $broker.existing.managementUrl) -}}{{- $faults = append $faults "broker.existing.managementUrl: expected https, as the administrator's password goes there" -}}{{- end -}}
{{- if not $rights.managementSecret.name -}}{{- $faults = append $faults "rights.managementSecret.name: name a Secret with the broker's administrator, or set rights.enabled to false" -}}{{- end -}}
{{- end -}}
{{- range $service := (include "rockbot.services" . | fromJson).services -}}
{{- $secrets := $service.values.secrets -}}
{{- range $variable, $part := dict "BUS_URL" "broker" "REDIS_URL" "redis" -}}
{{- $isMade := or $secrets.existingSecret (hasKey ($secrets.from | default dict) $variable) (not (has $variable $service.required)) $.Values.production -}}
{{- if and (not $isMade) (eq (index $.Values $part).kind "existing") -}}{{- $faults = append $faults (printf "%s.secrets.existingSecret: name a Secret with %s, as %s.kind is existing" $service.key $variable $part) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (ne $broker.kind "existing") (ne $rights.vhost "/") -}}{{- $faults = append $faults (printf "rights.vhost: expected / with broker.kind %s, whose services connect to it, got %s" $broker.kind $rights.vhost) -}}{{- end -}}
{{- if and (eq $broker.kind "builtin") (gt (int $broker.replicas) 1) (ne $broker.storage.kind "claim") -}}{{- $faults = append $faults "broker.storage.kind: expected claim with several nodes: the others do not let one in that comes back without its data" -}}{{- end -}}
{{- if .Values.production -}}
{{- if and $rights.enabled (not $rights.passwordsSecret) -}}{{- $faults = append $faults "rights.passwordsSecret: name a Secret with the password of each user of the policy" -}}{{- end -}}
{{- if and (eq $broker.kind "builtin") (not $broker.existingSecret) -}}{{- $faults = append $faults "broker.existingSecret: name a Secret with username, password and erlang-cookie" -}}{{- end -}}
{{- if and (ne $redis.kind "existing") (not $redis.existingSecret) -}}{{- $faults = append $faults "redis.existingSecret: name a Secret with reload, replication and sentinel" -}}{{- end -}}
{{- if and (ne $broker.kind "existing") (lt (int $broker.replicas) 3) -}}{{- $faults = append $faults "broker.replicas: expected 3, so that one may be lost" -}}{{- end -}}
{{- if eq $redis.kind "builtin" -}}{{- $faults = append $faults "redis.kind: expected sentinel or existing, so that one Redis may be lost" -}}{{- end -}}
{{- range $name, $part := dict "broker" $broker "redis" $redis -}}
{{- if ne $part.kind "existing" -}}
{{- if ne $part.storage.kind "claim" -}}{{- $faults = append $faults (printf "%s.storage.kind: expected claim: what is in a pod goes with it" $name) -}}{{- end -}}
{{- if not $part.image.digest -}}{{- $faults = append $faults (printf "%s.image.digest: name the image by its digest, sha256:…" $name) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $rights.enabled (not $rights.image.digest) -}}{{- $faults = append $faults "rights.image.digest: name the image by its digest, sha256:…" -}}{{- end -}}
{{- end -}}
{{ $faults | toJson }}
{{- end }}
