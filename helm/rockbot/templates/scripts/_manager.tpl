{{- /* What a service that makes pods of scripts has besides: it is the one with `cluster` among its egress. */ -}}

{{- define "rockbot.scripts.settings" -}}
{{- $scripts := .root.Values.scripts -}}
{{- $settings := dict "runner" "kubernetes" "kubernetesNamespace" $scripts.namespace.name "kubernetesServiceAccount" (include "rockbot.scriptAccount" .root) -}}
{{- if $scripts.priorityClass.create -}}{{- $_ := set $settings "kubernetesPriorityClass" (include "rockbot.priorityClass" .root) -}}{{- end -}}
{{- if $scripts.runtimeClassName -}}{{- $_ := set $settings "kubernetesRuntimeClass" $scripts.runtimeClassName -}}{{- end -}}
{{- if eq (include "rockbot.scripts.hasPackages" .) "true" -}}
{{- /* Below the volume, whose own folder belongs to root: this one is the manager's to close. */ -}}
{{- $_ := set $settings "packagesFolder" "/packages/layers" -}}
{{- if .service.values.packages.certificatesConfigMap -}}{{- $_ := set $settings "pipCertificates" "/etc/rockbot/index/certificates.pem" -}}{{- end -}}
{{- end -}}
{{ $settings | toJson }}
{{- end }}

{{- /* Whether scripts may have packages: where the manager is told of an index. */ -}}
{{- define "rockbot.scripts.hasPackages" -}}
{{ hasKey (include "rockbot.service.secrets" . | fromJson) "PIP_INDEX_URL" }}
{{- end }}

{{- define "rockbot.scripts.mounts" -}}
{{- if eq (include "rockbot.scripts.hasPackages" .) "true" }}
- { name: packages, mountPath: /packages }
{{- if .service.values.packages.certificatesConfigMap }}
- { name: index, mountPath: /etc/rockbot/index, readOnly: true }
{{- end }}
{{- end }}
{{- end }}

{{- define "rockbot.scripts.volumes" -}}
{{- $packages := .service.values.packages -}}
{{- if eq (include "rockbot.scripts.hasPackages" .) "true" }}
{{- if $packages.existingClaim }}
- { name: packages, persistentVolumeClaim: { claimName: {{ $packages.existingClaim }} } }
{{- else }}
- { name: packages, emptyDir: { sizeLimit: {{ $packages.sizeLimit }} } }
{{- end }}
{{- if $packages.certificatesConfigMap }}
- { name: index, configMap: { name: {{ $packages.certificatesConfigMap }} } }
{{- end }}
{{- end }}
{{- end }}
