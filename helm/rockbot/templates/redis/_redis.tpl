{{- define "rockbot.redis.name" -}}
{{ include "rockbot.fullname" (dict "root" . "part" "redis") }}
{{- end }}

{{- define "rockbot.redis.domain" -}}
{{ include "rockbot.redis.name" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end }}

{{- /* The Secret with the passwords of Redis's own users: `reload`, `replication`, `sentinel`. */ -}}
{{- define "rockbot.redis.secret" -}}
{{ .Values.redis.existingSecret | default (include "rockbot.redis.name" .) }}
{{- end }}

{{- /* The hosts of its pods, as a JSON list. */ -}}
{{- define "rockbot.redis.hosts" -}}
{{- $hosts := list -}}
{{- range $number := until (ternary 3 1 (eq .Values.redis.kind "sentinel")) -}}
{{- $hosts = append $hosts (printf "%s-%d.%s" (include "rockbot.redis.name" $) $number (include "rockbot.redis.domain" $)) -}}
{{- end -}}
{{ $hosts | toJson }}
{{- end }}

{{- /* The address of Redis for a user: `dict "root" $ "user" NAME "password" TEXT`. */ -}}
{{- define "rockbot.redis.url" -}}
{{- if eq .root.Values.redis.kind "sentinel" -}}
redis+sentinel://{{ .user }}:{{ .password }}@{{ include "rockbot.redis.hosts" .root | fromJsonArray | join "," }}/rockbot
{{- else -}}
redis://{{ .user }}:{{ .password }}@{{ include "rockbot.redis.name" .root }}.{{ .root.Release.Namespace }}.svc:6379
{{- end -}}
{{- end }}

{{- /* The services that keep something in Redis, each with what it may do there. */ -}}
{{- define "rockbot.redis.users" -}}
{{- range .Files.Get "files/services.json" | fromJsonArray }}
{{- if .usesRedis }}
{{ .name }} {{ .redisRules }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What the containers of a pod have in common: `dict "root" $ "values" .Values.redis "image" IMAGE "isWatched" BOOL "hasData" BOOL`. */ -}}
{{- define "rockbot.redis.container" }}
image: {{ .image }}
imagePullPolicy: {{ .values.image.pullPolicy }}
securityContext:
  {{- include "rockbot.containerSecurityContext" .root | nindent 2 }}
env:
  - name: POD_NAME
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  {{- if .isWatched }}
  - { name: SENTINEL, value: "yes" }
  - { name: DOMAIN, value: {{ include "rockbot.redis.domain" .root }} }
  {{- end }}
volumeMounts:
  - { name: config, mountPath: /etc/rockbot/redis, readOnly: true }
  - { name: passwords, mountPath: /etc/rockbot/passwords, readOnly: true }
  - { name: own-passwords, mountPath: /etc/rockbot/own-passwords, readOnly: true }
  - { name: run, mountPath: /run/redis }
  - { name: tmp, mountPath: /tmp }
  {{- if .hasData }}
  - { name: data, mountPath: /data }
  {{- end }}
{{- end }}
