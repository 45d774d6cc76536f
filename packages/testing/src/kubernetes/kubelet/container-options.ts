import type { Container, Pod, Volume, VolumeMount } from "../store/objects.ts";
import { amountOf } from "../store/quantity.ts";
import type { ContainerOptions, Mount } from "./container-process.ts";

const DEFAULT_VOLUME_BYTES = 64 * 1024 * 1024;
/** What a kubelet is often told to allow a pod. */
const MAX_PROCESSES = 128;

export interface NodeFacts {
  /** Folders of this machine that stand for claimed volumes, by claim. */
  readonly claims: Readonly<Record<string, string>>;
  /** Where the token of a pod's service account lies; there is one only for pods that mount it. */
  readonly tokenFolder: string | undefined;
  readonly hasNetwork: boolean;
  /** Such as the API server's address, which every container is told. */
  readonly environment: Readonly<Record<string, string>>;
}

/** How a node runs a container as its pod asks. */
export function containerOptionsOf(pod: Pod, container: Container, facts: NodeFacts): ContainerOptions {
  const { securityContext: own = {}, resources: { limits = {} } = {} } = container;
  const shared = pod.spec.securityContext ?? {};
  const user = own.runAsUser ?? shared.runAsUser ?? 0;
  return {
    name: `${pod.metadata.uid ?? ""}-${container.name}`,
    hostname: pod.metadata.name.slice(0, 63),
    command: [...(container.command ?? ["python3"]), ...(container.args ?? [])],
    environment: { ...facts.environment, ...variablesOf(pod, container) },
    workingFolder: container.workingDir ?? "/",
    user,
    group: own.runAsGroup ?? shared.runAsGroup ?? 0,
    isRootReadOnly: own.readOnlyRootFilesystem === true,
    hasNetwork: facts.hasNetwork,
    hasInput: container.stdin === true,
    mounts: (container.volumeMounts ?? []).map((mount) => mountOf(mount, pod.spec.volumes ?? [], facts)),
    limits: {
      memoryBytes: limits["memory"] === undefined ? undefined : Math.floor(amountOf(limits["memory"])),
      cpus: limits["cpu"] === undefined ? undefined : amountOf(limits["cpu"]),
      processes: MAX_PROCESSES,
    },
  };
}

/** Why a container cannot be made as its pod asks, in a kubelet's words; undefined if it can. */
export function configurationFault(
  pod: Pod,
  container: Container,
  hasObject: (resource: string, name: string) => boolean,
): string | undefined {
  for (const { valueFrom } of container.env ?? []) {
    const [resource, reference] =
      valueFrom?.secretKeyRef === undefined
        ? ["configmaps", valueFrom?.configMapKeyRef]
        : ["secrets", valueFrom.secretKeyRef];
    if (reference !== undefined && reference.optional !== true && !hasObject(resource, reference.name))
      return `${resource.slice(0, -1)} "${reference.name}" not found`;
  }
  const context = { ...pod.spec.securityContext, ...container.securityContext };
  if (context.runAsNonRoot !== true) return undefined;
  if (context.runAsUser === undefined)
    return `container has runAsNonRoot and image will run as root (pod: "${pod.metadata.name}_${pod.metadata.namespace}", container: ${container.name})`;
  return context.runAsUser === 0
    ? `container's runAsUser breaks non-root policy (pod: "${pod.metadata.name}_${pod.metadata.namespace}", container: ${container.name})`
    : undefined;
}

function variablesOf({ metadata }: Pod, { env = [] }: Container): Readonly<Record<string, string>> {
  const fields: Readonly<Record<string, string | undefined>> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "metadata.uid": metadata.uid,
  };
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [name, value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ""] ?? ""]),
  );
}

function mountOf(
  { name, mountPath, readOnly = false }: VolumeMount,
  volumes: readonly Volume[],
  { claims, tokenFolder }: NodeFacts,
): Mount {
  const volume = volumes.find((one) => one.name === name);
  const claim = volume?.persistentVolumeClaim;
  const source =
    claim === undefined ? (volume?.projected === undefined ? undefined : tokenFolder) : claims[claim.claimName];
  const { sizeLimit: size, medium } = volume?.emptyDir ?? {};
  return {
    path: mountPath,
    source,
    isOnDisk: volume?.emptyDir !== undefined && medium !== "Memory",
    isReadOnly: readOnly || claim?.readOnly === true,
    maxBytes: size === undefined ? DEFAULT_VOLUME_BYTES : amountOf(size),
  };
}
