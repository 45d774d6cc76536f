import type { Container, Pod, Volume } from "../store/objects.ts";

export const POD_SECURITY_LABEL = "pod-security.kubernetes.io/enforce";

/** Volume kinds that the restricted profile allows. */
const RESTRICTED_VOLUMES = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
];
const SAFE_SYSCTLS = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.tcp_wmem",
];
const SELINUX_TYPES = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];
const BASELINE_CAPABILITIES = [
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
];

type Check = (pod: Pod) => string | undefined;

/**
 * What a pod has that a namespace's Pod Security level forbids, in the words of the admission controller: the checks of
 * *baseline*, and for *restricted* those beyond it.
 * @see https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
export function podSecurityViolations(level: string | undefined, pod: Pod): readonly string[] {
  if (level === undefined || level === "privileged") return [];
  const checks = level === "restricted" ? [...BASELINE, ...RESTRICTED] : BASELINE;
  return checks.map((check) => check(pod)).filter((violation) => violation !== undefined);
}

const allContainers = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...(spec.ephemeralContainers ?? []),
];

const BASELINE: readonly Check[] = [
  ({ spec }) => {
    const used = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((name) => spec[name] === true);
    return used.length === 0 ? undefined : `host namespaces (${used.map((name) => `${name}=true`).join(", ")})`;
  },
  (pod) =>
    ofContainers(
      pod,
      "privileged",
      "must not set securityContext.privileged=true",
      ({ securityContext }) => securityContext?.privileged === true,
    ),
  (pod) =>
    ofContainers(pod, "hostPort", "use hostPorts", ({ ports = [] }) =>
      ports.some(({ hostPort = 0 }) => hostPort !== 0),
    ),
  (pod) =>
    ofContainers(
      pod,
      "non-default capabilities",
      "must not include non-default capabilities in securityContext.capabilities.add",
      ({ securityContext }) =>
        (securityContext?.capabilities?.add ?? []).some((name) => !BASELINE_CAPABILITIES.includes(name)),
    ),
  ({ spec }) => {
    const volumes = (spec.volumes ?? []).filter((volume) => volume["hostPath"] !== undefined);
    return volumes.length === 0 ? undefined : `hostPath volumes (${plural("volume", volumes)})`;
  },
  (pod) =>
    ofContainers(
      pod,
      "procMount",
      "must not set securityContext.procMount",
      ({ securityContext }) => !["Default", undefined].includes(securityContext?.procMount),
    ),
  (pod) =>
    ofAnyContext(
      pod,
      "hostProcess",
      "must not set securityContext.windowsOptions.hostProcess=true",
      (context) => context?.windowsOptions?.hostProcess === true,
    ),
  (pod) =>
    ofAnyContext(
      pod,
      "forbidden AppArmor profile",
      'must not set AppArmor profile type to "Unconfined"',
      (context) => context?.appArmorProfile?.type === "Unconfined",
    ),
  (pod) =>
    ofAnyContext(pod, "seLinuxOptions", "set forbidden securityContext.seLinuxOptions", (context) => {
      const options = context?.seLinuxOptions;
      return (
        options !== undefined &&
        (!SELINUX_TYPES.includes(options.type ?? "") || (options.user ?? "") !== "" || (options.role ?? "") !== "")
      );
    }),
  (pod) =>
    ofAnyContext(
      pod,
      "seccompProfile",
      'must not set securityContext.seccompProfile.type to "Unconfined"',
      (context) => context?.seccompProfile?.type === "Unconfined",
    ),
  ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !SAFE_SYSCTLS.includes(name));
    return names.length === 0 ? undefined : `forbidden sysctls (${names.join(", ")})`;
  },
  (pod) => {
    const handlers = allContainers(pod).filter(({ livenessProbe, readinessProbe, startupProbe, lifecycle }) =>
      [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].some(
        (probe) => (probe?.httpGet?.host ?? probe?.tcpSocket?.host ?? "") !== "",
      ),
    );
    return handlers.length === 0
      ? undefined
      : `probe or lifecycle host (${plural("container", handlers)} must not set a host in a probe or lifecycle handler)`;
  },
];

const RESTRICTED: readonly Check[] = [
  (pod) =>
    ofContainers(
      pod,
      "allowPrivilegeEscalation != false",
      "must set securityContext.allowPrivilegeEscalation=false",
      ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
    ),
  (pod) => {
    const undropped = allContainers(pod).filter(
      ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes("ALL"),
    );
    const adding = allContainers(pod).filter(({ securityContext }) =>
      (securityContext?.capabilities?.add ?? []).some((name) => name !== "NET_BIND_SERVICE"),
    );
    const faults = [
      ...(undropped.length === 0
        ? []
        : [`${plural("container", undropped)} must set securityContext.capabilities.drop=["ALL"]`]),
      ...(adding.length === 0
        ? []
        : [
            `${plural("container", adding)} must not include anything but "NET_BIND_SERVICE" in securityContext.capabilities.add`,
          ]),
    ];
    return faults.length === 0 ? undefined : `unrestricted capabilities (${faults.join("; ")})`;
  },
  ({ spec }) => {
    const bad = (spec.volumes ?? []).filter((volume) =>
      kindsOf(volume).some((kind) => !RESTRICTED_VOLUMES.includes(kind)),
    );
    const kinds = [...new Set(bad.flatMap(kindsOf))].map((kind) => `"${kind}"`).join(", ");
    return bad.length === 0
      ? undefined
      : `restricted volume types (${plural("volume", bad)} ${bad.length === 1 ? "uses" : "use"} restricted volume type ${kinds})`;
  },
  (pod) => {
    const isSet = pod.spec.securityContext?.runAsNonRoot;
    const bad = allContainers(pod).filter(({ securityContext }) => (securityContext?.runAsNonRoot ?? isSet) !== true);
    const explicit = bad.some(({ securityContext }) => securityContext?.runAsNonRoot === false);
    if (bad.length === 0 && isSet !== false) return undefined;
    if (bad.length === 0) return "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)";
    return explicit
      ? `runAsNonRoot != true (${plural("container", bad)} must not set securityContext.runAsNonRoot=false)`
      : `runAsNonRoot != true (pod or ${plural("container", bad)} must set securityContext.runAsNonRoot=true)`;
  },
  (pod) => ofAnyContext(pod, "runAsUser=0", "must not set runAsUser=0", (context) => context?.runAsUser === 0),
  (pod) => {
    const inherited = pod.spec.securityContext?.seccompProfile?.type;
    const bad = allContainers(pod).filter(
      ({ securityContext }) =>
        !["RuntimeDefault", "Localhost"].includes(securityContext?.seccompProfile?.type ?? inherited ?? ""),
    );
    return bad.length === 0
      ? undefined
      : `seccompProfile (pod or ${plural("container", bad)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`;
  },
];

function ofContainers(
  pod: Pod,
  title: string,
  rule: string,
  isBad: (container: Container) => boolean,
): string | undefined {
  const bad = allContainers(pod).filter(isBad);
  return bad.length === 0 ? undefined : `${title} (${plural("container", bad)} ${rule})`;
}

/** Of the pod's own context and those of its containers. */
function ofAnyContext(
  pod: Pod,
  title: string,
  rule: string,
  isBad: (context: Container["securityContext"] & Pod["spec"]["securityContext"]) => boolean,
): string | undefined {
  const isPodBad = isBad(pod.spec.securityContext as Parameters<typeof isBad>[0]);
  const bad = allContainers(pod).filter(({ securityContext }) => isBad(securityContext as Parameters<typeof isBad>[0]));
  const who = [...(isPodBad ? ["pod"] : []), ...(bad.length === 0 ? [] : [plural("container", bad)])];
  return who.length === 0 ? undefined : `${title} (${who.join(" and ")} ${rule})`;
}

const plural = (what: string, named: readonly { readonly name: string }[]): string =>
  `${what}${named.length === 1 ? "" : "s"} ${named.map(({ name }) => `"${name}"`).join(", ")}`;

const kindsOf = (volume: Volume): readonly string[] => Object.keys(volume).filter((key) => key !== "name");
