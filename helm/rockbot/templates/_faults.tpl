{{- /* Refuses values that the schema takes one by one and that do not go together, with all faults at once. */ -}}
{{- define "rockbot.faults" -}}
{{- $faults := list -}}
{{- range $fault := (include "rockbot.faultList" . | fromJsonArray) -}}{{- $faults = append $faults (printf "  - %s" $fault) -}}{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n\nCannot install with these values:\n%s\n" (join "\n" $faults)) -}}
{{- end -}}
{{- end }}

{{- define "rockbot.faultList" -}}
{{- $values := .Values -}}
{{- $production := $values.production -}}
{{- $faults := list -}}
{{- range (include "rockbot.services" . | fromJson).services -}}
{{- $service := .values -}}
{{- $part := dict "root" $ "service" . -}}
{{- $secrets := $service.secrets -}}
{{- if and (not $secrets.existingSecret) (has "OPENROUTER_API_KEY" .required) (not (hasKey ($secrets.from | default dict) "OPENROUTER_API_KEY")) -}}
{{- $faults = append $faults (printf "%s.secrets: name the Secret with OPENROUTER_API_KEY, in existingSecret or from" .key) -}}
{{- end -}}
{{- if and (not $secrets.existingSecret) $secrets.keys -}}
{{- range without $secrets.keys "GATEWAY_TOKEN" -}}
{{- $faults = append $faults (printf "%s.secrets.keys: %s: name the Secret that has it, in existingSecret" $part.service.key .) -}}
{{- end -}}
{{- end -}}
{{- $isElsewhere := or .readsMcp (has (.needs | default "" | snakecase | upper) .secrets) -}}
{{- if and .needs (not $isElsewhere) (not (hasKey $service.settings .needs)) -}}
{{- $faults = append $faults (printf "%s.settings.%s: needed: without it the service offers no tool" .key .needs) -}}
{{- end -}}
{{- if and (eq .name "agent") (not $service.settings.modelUrl) (not $service.settings.ollamaUrl) -}}
{{- $faults = append $faults (printf "%s.settings.modelUrl: name the API of its model, or an Ollama in settings.ollamaUrl" .key) -}}
{{- end -}}
{{- if and (eq .name "agent") $service.settings.modelUrl (not $service.settings.model) -}}
{{- $faults = append $faults (printf "%s.settings.model: name the model at settings.modelUrl" .key) -}}
{{- end -}}
{{- range $service.extraEnv -}}
{{- if has (trimSuffix "_FILE" .name) $part.service.secrets -}}
{{- $faults = append $faults (printf "%s.extraEnv: %s: a secret is no variable: name the Secret that has it, in %s.secrets.from" $part.service.key .name $part.service.key) -}}
{{- end -}}
{{- end -}}
{{- if and (has "configured" .egress) $service.settings.modelUrl $values.networkPolicy.enabled (not $service.egress) (ne (include "rockbot.service.internet" $part) "true") -}}
{{- $faults = append $faults (printf "%s: nothing lets it reach settings.modelUrl: set %s.internet to true if that is a public address, else write a rule into %s.egress" .key .key .key) -}}
{{- end -}}
{{- if and (eq $service.audit.kind "claim") (not $service.audit.existingClaim) -}}
{{- $faults = append $faults (printf "%s.audit.existingClaim: name the claim for the audit log, which its replicas may all write" .key) -}}
{{- end -}}
{{- $data := include "rockbot.service.data" $part -}}
{{- if and (eq $data "claim") (not $service.data.existingClaim) -}}
{{- $faults = append $faults (printf "%s.data.existingClaim: name the claim for its data" .key) -}}
{{- end -}}
{{- if and (eq $data "emptyDir") (or (gt (int $service.replicas) 1) (ne $service.autoscaling.kind "none")) -}}
{{- $faults = append $faults (printf "%s.data.kind: several replicas would each keep data of their own: expected claim, or none where its data lies elsewhere" .key) -}}
{{- end -}}
{{- if and (has $service.autoscaling.kind (tuple "hpa" "keda")) (not .topic) -}}
{{- $faults = append $faults (printf "%s.autoscaling.kind: expected none or cpu: no calls wait for it in a queue" .key) -}}
{{- end -}}
{{- if gt (int $service.autoscaling.min) (int $service.autoscaling.max) -}}
{{- $faults = append $faults (printf "%s.autoscaling: expected min to be at most max, got %d and %d" .key (int $service.autoscaling.min) (int $service.autoscaling.max)) -}}
{{- end -}}
{{- if and (eq $service.autoscaling.kind "keda") (not $values.monitoring.prometheus.address) -}}
{{- $faults = append $faults (printf "%s.autoscaling.kind: keda needs monitoring.prometheus.address" .key) -}}
{{- end -}}
{{- if $production -}}
{{- if not $service.image.digest -}}
{{- $faults = append $faults (printf "%s.image.digest: name the image by its digest, sha256:…" .key) -}}
{{- end -}}
{{- if and (not $secrets.existingSecret) (or .required $secrets.keys) -}}
{{- $faults = append $faults (printf "%s.secrets.existingSecret: name a Secret with %s" .key (join ", " (concat .required $secrets.keys | uniq))) -}}
{{- end -}}
{{- if and .onBus (lt (int $service.replicas) 2) (eq $service.autoscaling.kind "none") -}}
{{- $faults = append $faults (printf "%s.replicas: expected at least 2, so that one may be lost" .key) -}}
{{- end -}}
{{- end -}}
{{- if has "cluster" .egress -}}
{{- if gt (int $service.settings.sandboxFloor) (int $service.settings.sandboxCeiling) -}}
{{- $faults = append $faults (printf "%s.settings: expected sandboxFloor to be at most sandboxCeiling, got %d and %d" .key (int $service.settings.sandboxFloor) (int $service.settings.sandboxCeiling)) -}}
{{- end -}}
{{- $admission := $values.scripts.admissionPolicy -}}
{{- if and $admission.enabled $admission.allowedImages (not (has (include "rockbot.scripts.image" $) (include "rockbot.scripts.allowedImages" $ | fromJsonArray))) -}}
{{- $faults = append $faults (printf "scripts.admissionPolicy.allowedImages: expected %s among them, the image of %s.settings.kubernetesImage: no script would run" (include "rockbot.scripts.image" $) .key) -}}
{{- end -}}
{{- if $production -}}
{{- if not (contains "@sha256:" $service.settings.kubernetesImage) -}}
{{- $faults = append $faults (printf "%s.settings.kubernetesImage: name the scripts' image by its digest, such as python@sha256:…" .key) -}}
{{- end -}}
{{- if not $values.scripts.runtimeClassName -}}
{{- $faults = append $faults "scripts.runtimeClassName: name the runtime class that keeps scripts from their node's kernel, such as gvisor" -}}
{{- end -}}
{{- if not $values.networkPolicy.apiServer.cidrs -}}
{{- $faults = append $faults "networkPolicy.apiServer.cidrs: name the addresses of the API server: kubectl get endpointslices kubernetes" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $values.ingress.enabled (not $values.ingress.host) -}}
{{- $faults = append $faults "ingress.host: name the host by which clients reach the gateway" -}}
{{- end -}}
{{- if and $values.httpRoute.enabled (or (not $values.httpRoute.parentRefs) (not $values.httpRoute.hostnames)) -}}
{{- $faults = append $faults "httpRoute: name the Gateway in parentRefs, and the hosts by which clients reach the gateway in hostnames" -}}
{{- end -}}
{{- if and (or $values.ingress.enabled $values.httpRoute.enabled) $values.networkPolicy.enabled (not $values.networkPolicy.clients) -}}
{{- $faults = append $faults "networkPolicy.clients: name the pods of the ingress controller, which else reach no gateway" -}}
{{- end -}}
{{- if $production -}}
{{- if not (or $values.policy.text $values.policy.existingConfigMap) -}}
{{- $faults = append $faults "policy: write your policy into policy.text, or name a ConfigMap with policy.yaml in policy.existingConfigMap" -}}
{{- end -}}
{{- range $name, $backend := pick $values "broker" "redis" -}}
{{- if and (eq $backend.kind "existing") (not $backend.existing.to) -}}
{{- $faults = append $faults (printf "%s.existing.to: name where it is, as in a NetworkPolicy: [{ ipBlock: { cidr: … } }]" $name) -}}
{{- end -}}
{{- end -}}
{{- if not $values.networkPolicy.enabled -}}
{{- $faults = append $faults "networkPolicy.enabled: must be true in production" -}}
{{- end -}}
{{- end -}}
{{- $faults = concat $faults (include "rockbot.state.faults" . | fromJsonArray) (include "rockbot.releaseFaults" . | fromJsonArray) -}}
{{ $faults | toJson }}
{{- end }}

{{- /* What is wrong with the release's names, and with values that no one service has, as a JSON list. */ -}}
{{- define "rockbot.releaseFaults" -}}
{{- $values := .Values -}}
{{- $faults := list -}}
{{- range include "rockbot.undrawn" . | fromJsonArray -}}
{{- $faults = append $faults (printf "%s: name a Secret of yours: this rendering has no cluster to ask, so that the chart cannot make it once and keep it. See docs/operate/cluster.md" .) -}}
{{- end -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" .Release.Name) -}}
{{- $faults = append $faults (printf "the release's name: expected a letter, then letters, digits and hyphens, as names of Services have, got %s" .Release.Name) -}}
{{- end -}}
{{- if eq $values.scripts.namespace.name .Release.Namespace -}}
{{- $faults = append $faults (printf "scripts.namespace.name: expected another namespace than %s, that of the services: whoever may make pods there reads their Secrets" .Release.Namespace) -}}
{{- end -}}
{{- if and $values.priorityClasses.create $values.scripts.priorityClass.create (ge (int $values.scripts.priorityClass.value) (int $values.priorityClasses.service.value)) -}}
{{- $faults = append $faults (printf "scripts.priorityClass.value: expected less than priorityClasses.service.value, %d, so that scripts give way, got %d" (int $values.priorityClasses.service.value) (int $values.scripts.priorityClass.value)) -}}
{{- end -}}
{{- if and $values.policy.text $values.policy.existingConfigMap -}}
{{- $faults = append $faults "policy: expected text or existingConfigMap, got both" -}}
{{- end -}}
{{- with ($values.policy.text | fromYaml).Error -}}
{{- $faults = append $faults (printf "policy.text: expected a policy in YAML: %s" .) -}}
{{- end -}}
{{- if and $values.mcp.servers $values.mcp.existingConfigMap -}}
{{- $faults = append $faults "mcp: expected servers or existingConfigMap, got both" -}}
{{- end -}}
{{- $bridge := (include "rockbot.service.values" (dict "root" . "service" (dict "key" "mcpBridge" "values" dict)) | fromJson) -}}
{{- range $name, $server := $values.mcp.servers -}}
{{- $url := $server.url | default $server.serverUrl | default $server.httpUrl | default "" -}}
{{- $host := regexFind "//[^/?#]*" $url | trimPrefix "//" -}}
{{- $host = regexReplaceAll ":[0-9]+$" (regexReplaceAll "^.*@" $host "") "" -}}
{{- if or (contains "$" $url) $server.disabled (regexMatch "^(localhost|127\\..*|\\[::1\\])$" $host) -}}{{- $host = "" -}}{{- end -}}
{{- $isInside := or (not (contains "." $host)) (regexMatch "\\.(svc|local|internal|lan)$|\\.svc\\.|^10\\.|^192\\.168\\.|^172\\.(1[6-9]|2[0-9]|3[01])\\." $host) -}}
{{- if and $host $isInside $values.networkPolicy.enabled (not $bridge.egress) -}}
{{- $faults = append $faults (printf "mcp.servers.%s.url: nothing lets mcp-bridge reach %s: write a rule into mcpBridge.egress" $name $host) -}}
{{- end -}}
{{- end -}}
{{- if and $values.monitoring.otlp.endpoint $values.networkPolicy.enabled (not $values.monitoring.otlp.egress) -}}
{{- $faults = append $faults "monitoring.otlp.egress: write the rule that lets services reach monitoring.otlp.endpoint" -}}
{{- end -}}
{{- $isReached := false -}}
{{- range (include "rockbot.services" . | fromJson).services -}}{{- if eq (.reachedBy | default "") "outside" -}}{{- $isReached = true -}}{{- end -}}{{- end -}}
{{- range $name := tuple "ingress" "httpRoute" -}}
{{- if and (index $values $name).enabled (not $isReached) -}}
{{- $faults = append $faults (printf "%s.enabled: leads to the gateway, which gateway.enabled turns off" $name) -}}
{{- end -}}
{{- end -}}
{{ $faults | toJson }}
{{- end }}
