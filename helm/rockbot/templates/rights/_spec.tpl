{{- /* What the Job does that gives the broker's users the rights of the policy. */ -}}
{{- define "rockbot.rights.spec" -}}
{{- $rights := .Values.rights -}}
{{- $isExisting := eq .Values.broker.kind "existing" -}}
{{- $management := $rights.managementSecret -}}
{{- $secret := $isExisting | ternary $management.name (include "rockbot.broker.secret" .) -}}
{{- $part := dict "root" . "name" "rights" "component" "rights" "fullname" (include "rockbot.fullname" (dict "root" . "part" "rights")) -}}
{{- $bundle := .Values.tls.caBundle -}}
backoffLimit: 6
activeDeadlineSeconds: {{ mul 4 (int $rights.timeoutSeconds) }}
ttlSecondsAfterFinished: {{ int $rights.ttlSecondsAfterFinished }}
template:
  metadata:
    labels:
      {{- include "rockbot.podLabels" $part | nindent 6 }}
  spec:
    restartPolicy: OnFailure
    serviceAccountName: {{ $part.fullname }}
    automountServiceAccountToken: false
    enableServiceLinks: false
    securityContext:
      {{- include "rockbot.podSecurityContext" . | nindent 6 }}
    {{- with .Values.global.imagePullSecrets }}
    imagePullSecrets:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with $rights.nodeSelector }}
    nodeSelector:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with $rights.tolerations }}
    tolerations:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    containers:
      - name: rights
        image: {{ include "rockbot.image" (dict "root" . "image" $rights.image) }}
        imagePullPolicy: {{ $rights.image.pullPolicy }}
        args: [broker, apply, --passwords, /etc/rockbot/passwords, --vhost, {{ $rights.vhost | quote }}, --timeout, {{ int $rights.timeoutSeconds | quote }}]
        env:
          - { name: POLICY_FILE, value: /etc/rockbot/policy/policy.yaml }
          - { name: ROCKBOT_MANAGEMENT_URL, value: {{ include "rockbot.broker.managementUrl" . | quote }} }
          - { name: ROCKBOT_MANAGEMENT_USER_FILE, value: /etc/rockbot/administrator/username }
          - { name: ROCKBOT_MANAGEMENT_PASSWORD_FILE, value: /etc/rockbot/administrator/password }
          {{- if $bundle.configMap }}
          - { name: NODE_EXTRA_CA_CERTS, value: /etc/rockbot/authorities/{{ $bundle.key }} }
          {{- end }}
        resources:
          {{- toYaml $rights.resources | nindent 10 }}
        securityContext:
          {{- include "rockbot.containerSecurityContext" . | nindent 10 }}
        volumeMounts:
          - { name: tmp, mountPath: /tmp }
          - { name: policy, mountPath: /etc/rockbot/policy, readOnly: true }
          - { name: passwords, mountPath: /etc/rockbot/passwords, readOnly: true }
          - { name: administrator, mountPath: /etc/rockbot/administrator, readOnly: true }
          {{- if $bundle.configMap }}
          - { name: authorities, mountPath: /etc/rockbot/authorities, readOnly: true }
          {{- end }}
    volumes:
      - { name: tmp, emptyDir: { medium: Memory, sizeLimit: 16Mi } }
      - { name: policy, configMap: { name: {{ include "rockbot.policyConfigMap" . }} } }
      - { name: passwords, secret: { secretName: {{ include "rockbot.passwords" . }}, defaultMode: 0440 } }
      - name: administrator
        secret:
          secretName: {{ $secret }}
          defaultMode: 0440
          items:
            - { key: {{ $isExisting | ternary $management.usernameKey "username" }}, path: username }
            - { key: {{ $isExisting | ternary $management.passwordKey "password" }}, path: password }
      {{- if $bundle.configMap }}
      - { name: authorities, configMap: { name: {{ $bundle.configMap }} } }
      {{- end }}
{{- end }}
