{{- /* Of everything that belongs to a service, or to another part: `dict "root" $ "part" NAME`. */ -}}
{{- define "rockbot.fullname" -}}
{{ include "rockbot.shortName" .root }}-{{ .part }}
{{- end }}

{{- /*
fullnameOverride, or the release's name, of at most 40 characters: a longer one ends in a hash, so that two that begin alike share nothing. A release whose data lies under the name that
releases before had keeps that name.
*/ -}}
{{- define "rockbot.shortName" -}}
{{- $name := .Values.fullnameOverride | default .Release.Name -}}
{{- if le (len $name) 40 -}}
{{ $name }}
{{- else -}}
{{- $cut := $name | trunc 40 | trimSuffix "-" -}}
{{- $isKept := false -}}
{{- range $part := tuple "broker" "redis" -}}
{{- $found := lookup "apps/v1" "StatefulSet" $.Release.Namespace (printf "%s-%s" $cut $part) -}}
{{- if eq (dig "metadata" "labels" "app.kubernetes.io/instance" "" ($found | default dict)) $name -}}{{- $isKept = true -}}{{- end -}}
{{- end -}}
{{- if $isKept -}}{{ $cut }}{{- else -}}{{ $name | trunc 31 | trimSuffix "-" }}-{{ $name | sha256sum | trunc 8 }}{{- end -}}
{{- end -}}
{{- end }}

{{- define "rockbot.managerName" -}}
{{ include "rockbot.fullname" (dict "root" . "part" "scripts-manager") }}
{{- end }}

{{- define "rockbot.scriptAccount" -}}
rockbot-script
{{- end }}

{{- define "rockbot.priorityClass" -}}
{{ include "rockbot.fullname" (dict "root" . "part" "script") }}
{{- end }}

{{- /* Of every object. */ -}}
{{- define "rockbot.labels" -}}
app.kubernetes.io/part-of: rockbot
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.global.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* By which a Service, a budget or a network policy finds the pods of a part: `dict "root" $ "name" NAME`. They never change. */ -}}
{{- define "rockbot.selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- /* How pods spread over nodes and zones: `dict "over" VALUES.topologySpread "labels" TEXT`, and "keys" with a list for matchLabelKeys. */ -}}
{{- define "rockbot.topologySpread" -}}
{{- range $key, $when := dict "kubernetes.io/hostname" .over.nodes "topology.kubernetes.io/zone" .over.zones }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: {{ $when }}
  {{- with $.keys }}
  matchLabelKeys: {{ toJson . }}
  {{- end }}
  labelSelector:
    matchLabels:
      {{- $.labels | nindent 6 }}
{{- end }}
{{- end }}

{{- /* Of the objects of a part: `dict "root" $ "name" NAME "component" service|broker|redis|rights|test`. */ -}}
{{- define "rockbot.partLabels" -}}
{{ include "rockbot.labels" .root }}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- /* Of the pods of a part, by the same arguments: without versions, so that a new chart rolls out only what it changes. */ -}}
{{- define "rockbot.podLabels" -}}
{{ include "rockbot.selector" . }}
app.kubernetes.io/part-of: rockbot
app.kubernetes.io/component: {{ .component }}
{{- with .root.Values.global.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* A container's image, from global.registry if there is one, by digest if there is one: `dict "root" $ "image" {repository, tag, digest}`. */ -}}
{{- define "rockbot.image" -}}
{{- with .root.Values.global.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* The image of scripts. */ -}}
{{- define "rockbot.scripts.image" -}}
{{ include "rockbot.belowRegistry" (dict "root" . "image" .Values.scriptsManager.settings.kubernetesImage) }}
{{- end }}

{{- /* A whole image, below global.registry as all others, unless it is there already: `dict "root" $ "image" TEXT`. */ -}}
{{- define "rockbot.belowRegistry" -}}
{{- $registry := trimSuffix "/" .root.Values.global.registry -}}
{{- if and $registry (not (hasPrefix (print $registry "/") .image)) }}{{ $registry }}/{{ end }}{{ .image }}
{{- end }}

{{- /* The images that scripts may have, as a JSON list. */ -}}
{{- define "rockbot.scripts.allowedImages" -}}
{{- $images := list -}}
{{- range .Values.scripts.admissionPolicy.allowedImages | default (list .Values.scriptsManager.settings.kubernetesImage) -}}
{{- $images = append $images (include "rockbot.belowRegistry" (dict "root" $ "image" .)) -}}
{{- end -}}
{{ $images | toJson }}
{{- end }}

{{- /* What the restricted profile asks of a pod. */ -}}
{{- define "rockbot.podSecurityContext" -}}
{{- include "rockbot.users.of" .Values.podSecurityContext }}
{{- end }}

{{- /* The same, with a user and groups, of which any may be left out. */ -}}
{{- define "rockbot.users.of" -}}
runAsNonRoot: true
{{- range $key := tuple "runAsUser" "runAsGroup" "fsGroup" }}
{{- if not (kindIs "invalid" (index $ $key)) }}
{{ $key }}: {{ int64 (index $ $key) }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" .fsGroup) }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* What the restricted profile asks of a container, and more. */ -}}
{{- define "rockbot.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* The names by which others in the cluster reach a Service of ours, as a JSON list: `dict "root" $ "part" NAME`. */ -}}
{{- define "rockbot.serviceHosts" -}}
{{- $name := include "rockbot.fullname" . -}}
{{- $namespace := .root.Release.Namespace -}}
{{ list $name (printf "%s.%s" $name $namespace) (printf "%s.%s.svc" $name $namespace) (printf "%s.%s.svc.%s" $name $namespace .root.Values.clusterDomain) | toJson }}
{{- end }}
