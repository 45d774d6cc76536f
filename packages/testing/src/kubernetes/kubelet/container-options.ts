import type { Container, Pod, VolumeMount } from "../store/objects.ts";
import type { ContainerOptions, Mount } from "./container-process.ts";

const DEFAULT_VOLUME_BYTES = 64 * 1024 * 1024;
/** What a kubelet is often told to allow a pod. */
const MAX_PROCESSES = 128;

/** How a node runs a pod's container as the pod asks. */
export function containerOptionsOf(pod: Pod, container: Container, hasNetwork: boolean): ContainerOptions {
  const { securityContext: own = {}, resources: { limits = {} } = {} } = container;
  const shared = pod.spec.securityContext ?? {};
  return {
    name: `${pod.metadata.uid ?? ""}-${container.name}`,
    hostname: pod.metadata.name.slice(0, 63),
    command: container.command ?? ["python3"],
    environment: Object.fromEntries((container.env ?? []).map(({ name, value = "" }) => [name, value])),
    workingFolder: container.workingDir ?? "/",
    user: own.runAsUser ?? shared.runAsUser ?? 0,
    group: own.runAsGroup ?? shared.runAsGroup ?? 0,
    isRootReadOnly: own.readOnlyRootFilesystem === true,
    hasNetwork,
    hasInput: container.stdin === true,
    mounts: (container.volumeMounts ?? []).map((mount) => mountOf(mount, pod)),
    limits: {
      memoryBytes: limits["memory"] === undefined ? undefined : Math.floor(amountOf(limits["memory"])),
      cpus: limits["cpu"] === undefined ? undefined : amountOf(limits["cpu"]),
      processes: MAX_PROCESSES,
    },
  };
}

function mountOf({ name, mountPath, readOnly = false }: VolumeMount, { spec: { volumes = [] } }: Pod): Mount {
  const { sizeLimit, medium } = volumes.find((one) => one.name === name)?.emptyDir ?? {};
  return {
    path: mountPath,
    isOnDisk: medium !== "Memory",
    isReadOnly: readOnly,
    maxBytes: sizeLimit === undefined ? DEFAULT_VOLUME_BYTES : amountOf(sizeLimit),
  };
}

const UNITS: Readonly<Record<string, number>> = { m: 1e-3, "": 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** The number that a quantity such as `500m` or `256Mi` stands for; NaN for a form that pods of scripts never have. */
function amountOf(quantity: string): number {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)(m|Ki|Mi|Gi)?$/.exec(quantity) ?? [];
  return Number(digits) * (UNITS[unit] ?? Number.NaN);
}
