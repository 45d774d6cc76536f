{{- /*
The services that this release has, as a JSON object {services: [...]}: each what files/services.json says of it, with `fullname`, and in `values` what holds for it:
its own values, over `defaults`, over those of the list. A template that needs a service's values takes them from here.
*/ -}}
{{- define "rockbot.services" -}}
{{- $root := . -}}
{{- $services := list -}}
{{- range $entry := .Files.Get "files/services.json" | fromJsonArray -}}
{{- $values := include "rockbot.service.values" (dict "root" $root "service" $entry) | fromJson -}}
{{- if $values.enabled -}}
{{- $fullname := include "rockbot.fullname" (dict "root" $root "part" $entry.name) -}}
{{- $services = append $services (merge (dict "values" $values "fullname" $fullname) $entry) -}}
{{- end -}}
{{- end -}}
{{ dict "services" $services | toJson }}
{{- end }}

{{- /* What holds for an entry of files/services.json, whether the release has it or not, as a JSON object. */ -}}
{{- define "rockbot.service.values" -}}
{{ mergeOverwrite (deepCopy .service.values) (deepCopy .root.Values.defaults) (deepCopy (index .root.Values .service.key | default dict)) | toJson }}
{{- end }}

{{- /* The arguments of "rockbot.partLabels" and "rockbot.selector" for a service. */ -}}
{{- define "rockbot.service.labels" -}}
{{ include "rockbot.partLabels" (dict "root" .root "name" .service.name "component" "service") }}
{{- end }}

{{- define "rockbot.service.selector" -}}
{{ include "rockbot.selector" (dict "root" .root "name" .service.name) }}
{{- end }}
