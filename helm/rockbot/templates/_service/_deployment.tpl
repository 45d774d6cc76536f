{{- define "rockbot.service.deployment" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $values := $service.values -}}
{{- $settings := include "rockbot.service.settings" . | fromJson -}}
{{- $secrets := include "rockbot.service.secrets" . | fromJson -}}
{{- /* Those of the MCP servers of this release, for the one service that calls them. */ -}}
{{- $tokens := list -}}
{{- if $service.readsMcp -}}{{- $tokens = include "rockbot.mcp.tokens" (dict "root" $root "reachedBy" $service.name) | fromJsonArray -}}{{- end -}}
{{- $audit := include "rockbot.service.audit" . -}}
{{- $data := include "rockbot.service.data" . -}}
{{- $usesCluster := has "cluster" $service.egress -}}
{{- $bundle := $root.Values.tls.caBundle -}}
{{- /* Endpoints of Services take a moment to hear that a pod is ending: until then its port stays open. */ -}}
{{- $pauseSeconds := ternary 5 0 (not (empty $service.port)) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $service.fullname }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "rockbot.service.labels" . | nindent 4 }}
spec:
  {{- if eq $values.autoscaling.kind "none" }}
  replicas: {{ int $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  # The old ones finish what they run while the new ones take what comes.
  strategy: { type: RollingUpdate, rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
  selector:
    matchLabels:
      {{- include "rockbot.service.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- include "rockbot.podLabels" (dict "root" $root "name" $service.name "component" "service") | nindent 8 }}
      annotations:
        # Settings are read once. Policy, mcp.json and secrets are read again when they change, so they start no roll-out.
        checksum/config: {{ include "rockbot.service.settings" . | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ $service.fullname }}
      automountServiceAccountToken: {{ $usesCluster }}
      enableServiceLinks: false
      # Longer than SHUTDOWN_GRACE_MS.
      terminationGracePeriodSeconds: {{ add 5 $pauseSeconds (ceil (divf (int64 ($settings.shutdownGraceMs | default 20000)) 1000)) }}
      {{- $class := $values.priorityClassName | default (ternary (include "rockbot.fullname" (dict "root" $root "part" "service")) "" $root.Values.priorityClasses.create) }}
      {{- with $class }}
      priorityClassName: {{ . }}
      {{- end }}
      securityContext:
        {{- mergeOverwrite (include "rockbot.podSecurityContext" $root | fromYaml) $values.podSecurityContext | toYaml | nindent 8 }}
      {{- with $root.Values.global.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        {{- /* Each roll-out is spread by itself. */}}
        {{- $spread := dict "over" $values.topologySpread "labels" (include "rockbot.service.selector" .) "keys" (list "pod-template-hash") }}
        {{- include "rockbot.topologySpread" $spread | nindent 8 }}
      {{- with $values.initContainers }}
      initContainers:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ $service.name }}
          image: {{ include "rockbot.image" (dict "root" $root "image" $values.image) }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          env:
            - { name: CONFIG_FILE, value: /etc/rockbot/config/config.yaml }
            {{- range $name, $_ := $secrets }}
            - { name: {{ $name }}_FILE, value: /etc/rockbot/secrets/{{ $name }} }
            {{- end }}
            {{- range $name, $value := $service.environment }}
            - { name: {{ $name }}, value: {{ $value | quote }} }
            {{- end }}
            {{- if $bundle.configMap }}
            - { name: NODE_EXTRA_CA_CERTS, value: /etc/rockbot/authorities/{{ $bundle.key }} }
            {{- end }}
            - name: POD_NAME
              valueFrom: { fieldRef: { fieldPath: metadata.name } }
            {{- if eq $audit "claim" }}
            # One process writes to a file.
            - { name: AUDIT_FILE, value: /var/lib/rockbot/audit/$(POD_NAME).jsonl }
            {{- end }}
            {{- range $tokens }}
            - { name: {{ .variable }}_FILE, value: /etc/rockbot/secrets/{{ .variable }} }
            {{- end }}
            {{- include "rockbot.telemetry.env" . | nindent 12 }}
            {{- with $values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - { name: health, containerPort: 8481 }
            {{- with $service.port }}
            - { name: http, containerPort: {{ . }} }
            {{- end }}
          startupProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 60 }
          livenessProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
          readinessProbe: { httpGet: { path: /readyz, port: health }, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 }
          {{- if $pauseSeconds }}
          lifecycle: { preStop: { sleep: { seconds: {{ $pauseSeconds }} } } }
          {{- end }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            {{- mergeOverwrite (include "rockbot.containerSecurityContext" $root | fromYaml) $values.securityContext | toYaml | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            - { name: config, mountPath: /etc/rockbot/config, readOnly: true }
            {{- if $secrets }}
            - { name: secrets, mountPath: /etc/rockbot/secrets, readOnly: true }
            {{- end }}
            {{- if $service.onBus }}
            - { name: policy, mountPath: /etc/rockbot/policy, readOnly: true }
            {{- end }}
            {{- if $service.readsMcp }}
            - { name: mcp, mountPath: /etc/rockbot/mcp, readOnly: true }
            {{- end }}
            {{- if $bundle.configMap }}
            - { name: authorities, mountPath: /etc/rockbot/authorities, readOnly: true }
            {{- end }}
            {{- if ne $audit "none" }}
            - { name: audit, mountPath: /var/lib/rockbot/audit }
            {{- end }}
            {{- if ne $data "none" }}
            - { name: data, mountPath: /var/lib/rockbot/data }
            {{- end }}
            {{- if $usesCluster }}
            {{- include "rockbot.scripts.mounts" . | trim | nindent 12 }}
            {{- end }}
            {{- with $values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
        {{- with $values.extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      volumes:
        - { name: tmp, emptyDir: { medium: Memory, sizeLimit: {{ $service.scratch }} } }
        - { name: config, configMap: { name: {{ $service.fullname }} } }
        {{- if $secrets }}
        - name: secrets
          projected:
            defaultMode: 0440
            sources:
              {{- range $name, $place := $secrets }}
              - secret: { name: {{ $place.name }}, items: [{ key: {{ $place.key }}, path: {{ $name }} }] }
              {{- end }}
              {{- range $tokens }}
              - secret: { name: {{ .secret.name }}, items: [{ key: {{ .secret.key }}, path: {{ .variable }} }] }
              {{- end }}
        {{- end }}
        {{- if $service.onBus }}
        - { name: policy, configMap: { name: {{ include "rockbot.policyConfigMap" $root }} } }
        {{- end }}
        {{- if $service.readsMcp }}
        - { name: mcp, configMap: { name: {{ include "rockbot.mcpConfigMap" $root }} } }
        {{- end }}
        {{- if $bundle.configMap }}
        - { name: authorities, configMap: { name: {{ $bundle.configMap }} } }
        {{- end }}
        {{- if eq $audit "emptyDir" }}
        - { name: audit, emptyDir: { sizeLimit: {{ $values.audit.sizeLimit }} } }
        {{- else if eq $audit "claim" }}
        - { name: audit, persistentVolumeClaim: { claimName: {{ $values.audit.existingClaim }} } }
        {{- end }}
        {{- if eq $data "emptyDir" }}
        - { name: data, emptyDir: { sizeLimit: {{ $values.data.sizeLimit }} } }
        {{- else if eq $data "claim" }}
        - { name: data, persistentVolumeClaim: { claimName: {{ $values.data.existingClaim }} } }
        {{- end }}
        {{- if $usesCluster }}
        {{- include "rockbot.scripts.volumes" . | trim | nindent 8 }}
        {{- end }}
        {{- with $values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end }}
