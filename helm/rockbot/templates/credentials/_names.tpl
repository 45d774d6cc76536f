{{- /* The Secret with the password of each user at the broker and at Redis, by the user's name. */ -}}
{{- define "rockbot.passwords" -}}
{{ .Values.rights.passwordsSecret | default (include "rockbot.fullname" (dict "root" . "part" "passwords")) }}
{{- end }}

{{- /*
The values that have to name a Secret, as a JSON list: where helm has no cluster to ask, what the chart has made before is not known, and each rendering would have
others. Every cluster has the namespace `default`.
*/ -}}
{{- define "rockbot.undrawn" -}}
{{- $values := list -}}
{{- if and (not .Values.rights.passwordsSecret) (or (ne .Values.broker.kind "existing") (ne .Values.redis.kind "existing")) -}}{{- $values = append $values "rights.passwordsSecret" -}}{{- end -}}
{{- if and (eq .Values.broker.kind "builtin") (not .Values.broker.existingSecret) -}}{{- $values = append $values "broker.existingSecret" -}}{{- end -}}
{{- if and (ne .Values.redis.kind "existing") (not .Values.redis.existingSecret) -}}{{- $values = append $values "redis.existingSecret" -}}{{- end -}}
{{- $made := include "rockbot.madeCredentials" . -}}
{{- range (include "rockbot.services" . | fromJson).services -}}
{{- if contains (printf "\"service\":%q" .name) $made -}}{{- $values = append $values (printf "%s.secrets.existingSecret" .key) -}}{{- end -}}
{{- end -}}
{{- $isKnown := or .Values.credentials.drawWithoutCluster (lookup "v1" "Namespace" "" "default") -}}
{{ ternary (list) $values (not (empty $isKnown)) | toJson }}
{{- end }}

{{- /* The Secret with the secrets of services that no Secret of yours has: each under SERVICE.NAME. */ -}}
{{- define "rockbot.credentials" -}}
{{ include "rockbot.fullname" (dict "root" . "part" "credentials") }}
{{- end }}

{{- /*
The secrets of services that the chart makes, as a JSON list: {service, name}. In production each is one of yours. A service that the release lacks has its own, too:
off and on again, it has the same token.
*/ -}}
{{- define "rockbot.madeCredentials" -}}
{{- $root := . -}}
{{- $isMade := dict "BUS_URL" (ne .Values.broker.kind "existing") "REDIS_URL" (ne .Values.redis.kind "existing") "GATEWAY_TOKEN" true "MCP_TOKEN" true -}}
{{- $result := list -}}
{{- range $service := .Files.Get "files/services.json" | fromJsonArray -}}
{{- $secrets := (include "rockbot.service.values" (dict "root" $root "service" $service) | fromJson).secrets -}}
{{- if not (or $root.Values.production $secrets.existingSecret) -}}
{{- range $name := concat $service.required $secrets.keys | uniq -}}
{{- if and (get $isMade $name) (not (hasKey ($secrets.from | default dict) $name)) -}}{{- $result = append $result (dict "service" $service.name "name" $name) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ $result | toJson }}
{{- end }}

{{- /*
The users that need a password, as a JSON list: the services on the bus, and those that the policy names besides. `rockbot broker apply` grants the policy's users
their rights, and a test compares the two lists.
*/ -}}
{{- define "rockbot.users" -}}
{{- $users := list -}}
{{- range .Files.Get "files/services.json" | fromJsonArray -}}{{- if .onBus -}}{{- $users = append $users .name -}}{{- end -}}{{- end -}}
{{- $policy := include "rockbot.policyText" . | fromYaml -}}
{{- range $among := list $policy.services $policy.callers -}}
{{- range $name, $entry := $among -}}
{{- $isNobody := and (kindIs "map" $entry) (hasKey $entry "user") (kindIs "invalid" $entry.user) -}}
{{- if not $isNobody -}}{{- $users = append $users (($entry | default dict).user | default $name) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $policy.delegates -}}{{- if kindIs "string" . -}}{{- $users = append $users . -}}{{- else -}}{{- $users = append $users .user -}}{{- end -}}{{- end -}}
{{- range $policy.operators -}}{{- $users = append $users .name -}}{{- end -}}
{{- range $policy.legacyPeers -}}{{- $users = append $users . -}}{{- end -}}
{{ $users | uniq | sortAlpha | toJson }}
{{- end }}

{{- /* What stays after helm uninstall: secrets, where data stays that they open. */ -}}
{{- define "rockbot.keeps" -}}
{{- $broker := and (ne .Values.broker.kind "existing") (eq .Values.broker.storage.kind "claim") -}}
{{- $redis := and (ne .Values.redis.kind "existing") (eq .Values.redis.storage.kind "claim") -}}
{{ or $broker $redis }}
{{- end }}

{{- /* The annotations of a Secret that the chart makes once. */ -}}
{{- define "rockbot.madeOnce.annotations" -}}
rockbot/generation: {{ .Values.credentials.generation | quote }}
{{- if eq (include "rockbot.keeps" .) "true" }}
helm.sh/resource-policy: keep
{{- end }}
{{- end }}

{{- /*
What a Secret that the chart makes once has already, as a JSON object of texts: `dict "root" $ "name" NAME`, with `generation` where that is not that of values.
It is empty where the Secret is not there yet, where helm has no cluster to ask, and where values ask for another generation.
*/ -}}
{{- define "rockbot.madeOnce" -}}
{{- $found := lookup "v1" "Secret" .root.Release.Namespace .name -}}
{{- $texts := dict -}}
{{- if eq (dig "metadata" "annotations" "rockbot/generation" "1" ($found | default dict)) (.generation | default .root.Values.credentials.generation | toString) -}}
{{- range $key, $value := ($found.data | default dict) -}}{{- $_ := set $texts $key (b64dec $value) -}}{{- end -}}
{{- end -}}
{{ $texts | toJson }}
{{- end }}
