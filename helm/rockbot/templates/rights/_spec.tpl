{{- /* What a Job has in common that runs the command with the policy: `dict "root" $ "part" PART "args" ARGS "configMap" NAME`, and "isApplied" where it reaches the broker. */ -}}
{{- define "rockbot.rights.template" -}}
{{- $root := .root -}}
{{- $rights := $root.Values.rights -}}
{{- $isExisting := eq $root.Values.broker.kind "existing" -}}
{{- $management := $rights.managementSecret -}}
{{- $bundle := $root.Values.tls.caBundle.configMap -}}
metadata:
  labels:
    {{- include "rockbot.podLabels" .part | nindent 4 }}
spec:
  restartPolicy: {{ ternary "OnFailure" "Never" (default false .isApplied) }}
  {{- with .part.fullname }}
  serviceAccountName: {{ . }}
  {{- end }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    {{- include "rockbot.podSecurityContext" $root | nindent 4 }}
  {{- with $root.Values.global.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $rights.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $rights.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .part.name }}
      image: {{ include "rockbot.image" (dict "root" $root "image" $rights.image) }}
      imagePullPolicy: {{ $rights.image.pullPolicy }}
      args: {{ toJson .args }}
      {{- if .isApplied }}
      env:
        - { name: POLICY_FILE, value: /etc/rockbot/policy/policy.yaml }
        - { name: ROCKBOT_MANAGEMENT_URL, value: {{ include "rockbot.broker.managementUrl" $root | quote }} }
        - { name: ROCKBOT_MANAGEMENT_USER_FILE, value: /etc/rockbot/administrator/username }
        - { name: ROCKBOT_MANAGEMENT_PASSWORD_FILE, value: /etc/rockbot/administrator/password }
        {{- if $bundle }}
        - { name: NODE_EXTRA_CA_CERTS, value: /etc/rockbot/authorities/{{ $root.Values.tls.caBundle.key }} }
        {{- end }}
      {{- end }}
      resources:
        {{- toYaml $rights.resources | nindent 8 }}
      securityContext:
        {{- include "rockbot.containerSecurityContext" $root | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: policy, mountPath: /etc/rockbot/policy, readOnly: true }
        {{- if .isApplied }}
        - { name: passwords, mountPath: /etc/rockbot/passwords, readOnly: true }
        - { name: administrator, mountPath: /etc/rockbot/administrator, readOnly: true }
        {{- if $bundle }}
        - { name: authorities, mountPath: /etc/rockbot/authorities, readOnly: true }
        {{- end }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { medium: Memory, sizeLimit: 16Mi } }
    - { name: policy, configMap: { name: {{ .configMap }} } }
    {{- if .isApplied }}
    - { name: passwords, secret: { secretName: {{ include "rockbot.passwords" $root }}, defaultMode: 0440 } }
    - name: administrator
      secret:
        secretName: {{ $isExisting | ternary $management.name (include "rockbot.broker.secret" $root) }}
        defaultMode: 0440
        items:
          - { key: {{ $isExisting | ternary $management.usernameKey "username" }}, path: username }
          - { key: {{ $isExisting | ternary $management.passwordKey "password" }}, path: password }
    {{- if $bundle }}
    - { name: authorities, configMap: { name: {{ $bundle }} } }
    {{- end }}
    {{- end }}
{{- end }}

{{- /* What the Job does that gives the broker's users the rights of the policy. */ -}}
{{- define "rockbot.rights.spec" -}}
{{- $rights := .Values.rights -}}
{{- $part := dict "root" . "name" "rights" "component" "rights" "fullname" (include "rockbot.fullname" (dict "root" . "part" "rights")) -}}
{{- $args := list "broker" "apply" "--passwords" "/etc/rockbot/passwords" "--vhost" $rights.vhost "--timeout" (int $rights.timeoutSeconds | toString) -}}
backoffLimit: 6
activeDeadlineSeconds: {{ mul 4 (int $rights.timeoutSeconds) }}
ttlSecondsAfterFinished: {{ int $rights.ttlSecondsAfterFinished }}
template:
  {{- include "rockbot.rights.template" (dict "root" . "part" $part "args" $args "configMap" (include "rockbot.policyConfigMap" .) "isApplied" true) | nindent 2 }}
{{- end }}
