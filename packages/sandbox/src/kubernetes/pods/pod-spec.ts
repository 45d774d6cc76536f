import type { V1Pod } from "@kubernetes/client-node";
import { PACKAGES_FOLDER } from "../../layer/package-layer.ts";
import type { SandboxLimits } from "../../sandbox-limits.ts";
import { APP, CONTAINER, deadlineIn, PodAnnotation, PodLabel, PodState } from "./pod-marks.ts";

/** What all pods of a maker have alike. */
export interface PodTemplate {
  /** By digest where nobody else may say what it is. @default python:3.12-slim */
  readonly image?: string | undefined;
  /** Its first process: with the end of its stdin it ends, unless it has a script to run. */
  readonly command: readonly string[];
  readonly limits: SandboxLimits;
  /** The bound of a folder for packages, on the node's disk. @default there is none */
  readonly packagesBytes?: number | undefined;
  /** Such as that of gVisor: it takes the kernel out of scripts' reach. @default the cluster's */
  readonly runtimeClassName?: string | undefined;
  /** @default the cluster's */
  readonly priorityClassName?: string | undefined;
  /** One without rights; its token is not mounted in any case. @default the namespace's */
  readonly serviceAccountName?: string | undefined;
}

export interface PodIdentity {
  readonly name: string;
  readonly owner: string;
  readonly attempt: string;
  readonly jobId: string | undefined;
  /** When anybody may delete it, in milliseconds from now. */
  readonly deadlineMs: number;
  /** How long the pod may run whatever happens, in milliseconds. */
  readonly activeMs: number;
}

/** Nobody. */
const USER = 65_534;
const MB = 1024 * 1024;
/** The bytes as a quantity of Kubernetes. */
export const mebibytes = (bytes: number): string => `${Math.ceil(bytes / MB)}Mi`;

export const processorsOf = ({ processors }: Pick<SandboxLimits, "processors">): string =>
  `${Math.ceil(processors * 1_000)}m`;

/**
 * A pod that Pod Security admits as restricted, and stricter: it has no network name service, no token, no services in
 * its environment, one folder to write to, of bounded size and in memory, and an end in any case. The number of its
 * processes is bounded by the supervisor, and by the kubelet's `podPidsLimit`: a pod cannot ask for that. On the node's
 * disk it gets the size of its folder for packages, and as much as its folder in memory for its log: more than a
 * supervisor or an installer writes.
 */
// Long because: it is one document, and all rights of a pod are to be seen in one place
export function podSpec(
  { name, owner, attempt, jobId, deadlineMs, activeMs }: PodIdentity,
  template: PodTemplate,
): V1Pod {
  const { command, limits, packagesBytes = 0, runtimeClassName, priorityClassName, serviceAccountName } = template;
  const hasPackages = packagesBytes > 0;
  const resources = {
    memory: mebibytes(limits.memoryBytes),
    "ephemeral-storage": mebibytes(limits.storageBytes + packagesBytes),
    cpu: processorsOf(limits),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: {
        [PodLabel.App]: APP,
        [PodLabel.Owner]: owner,
        [PodLabel.State]: PodState.Starting,
        ...(jobId === undefined ? {} : { [PodLabel.Job]: jobId }),
      },
      annotations: { ...deadlineIn(deadlineMs), [PodAnnotation.Attempt]: attempt },
    },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: Math.ceil(activeMs / 1_000),
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "None",
      dnsConfig: {
        nameservers: ["127.0.0.1"],
        options: [
          { name: "timeout", value: "1" },
          { name: "attempts", value: "1" },
        ],
      },
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      shareProcessNamespace: false,
      ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
      ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      // A node that is lost is lost for a script too: by default pods wait five minutes for it.
      tolerations: ["not-ready", "unreachable"].map((taint) => ({
        key: `node.kubernetes.io/${taint}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 10,
      })),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: CONTAINER,
          image: template.image ?? "python:3.12-slim",
          imagePullPolicy: "IfNotPresent",
          command: [...command],
          workingDir: "/tmp",
          stdin: true,
          stdinOnce: true,
          env: [
            { name: "HOME", value: "/tmp" },
            { name: "LANG", value: "C.UTF-8" },
          ],
          resources: { requests: resources, limits: resources },
          securityContext: {
            allowPrivilegeEscalation: false,
            privileged: false,
            readOnlyRootFilesystem: true,
            runAsNonRoot: true,
            capabilities: { drop: ["ALL"] },
            seccompProfile: { type: "RuntimeDefault" },
          },
          volumeMounts: [
            { name: "tmp", mountPath: "/tmp" },
            { name: "closed", mountPath: "/dev/mqueue", readOnly: true }, // in place of a folder of the container runtime that could be written to
            ...(hasPackages ? [{ name: "packages", mountPath: PACKAGES_FOLDER }] : []),
          ],
        },
      ],
      volumes: [
        { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: mebibytes(limits.storageBytes) } },
        { name: "closed", emptyDir: { medium: "Memory", sizeLimit: "4Ki" } },
        ...(hasPackages ? [{ name: "packages", emptyDir: { sizeLimit: mebibytes(packagesBytes) } }] : []),
      ],
    },
  };
}
