{{- /*
Where each secret of a service lies, as a JSON object NAME -> {name, key}: in `secrets.from`, else in `secrets.existingSecret` under its own name, else in the Secret
of the chart under SERVICE.NAME. Those are the secrets that the service needs, and those that its values name.
*/ -}}
{{- define "rockbot.service.secrets" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $secrets := $service.values.secrets -}}
{{- $from := $secrets.from | default dict -}}
{{- $result := dict -}}
{{- range $name := concat $service.required $secrets.keys (keys $from) | uniq -}}
{{- if hasKey $from $name -}}
{{- $_ := set $result $name (index $from $name) -}}
{{- else if $secrets.existingSecret -}}
{{- $_ := set $result $name (dict "name" $secrets.existingSecret "key" $name) -}}
{{- else -}}
{{- $_ := set $result $name (dict "name" (include "rockbot.credentials" $root) "key" (printf "%s.%s" $service.name $name)) -}}
{{- end -}}
{{- end -}}
{{ $result | toJson }}
{{- end }}
