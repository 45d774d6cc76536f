import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import {
  type CanaryTarget,
  canaryTargets,
  engineSocket,
  openLocalMaker,
  pooledRunner,
  type SandboxLimits,
  type SandboxMaker,
  type ScriptRunner,
  supervisorCommand,
} from "@rockbot/sandbox";
import type { ContainerMakerOptions } from "@rockbot/sandbox/container";
import type { KubernetesMakerOptions } from "@rockbot/sandbox/kubernetes";
import { createPackages, packagesFolderOf } from "./create-packages.ts";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import { installerCommand, installerLimits } from "./packages/installer/installer-command.ts";
import type { PackageStore } from "./packages/package-store.ts";

/** The parts of the process that a runner uses. */
export interface CreateRunnerOptions {
  readonly log: Logger;
  /**
   * Where programs are found, and whether this is a pod of a cluster, where no script is ever run without a sandbox.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** A runner, with what this machine cannot enforce. Disposal ends its sandboxes. */
export interface CreatedRunner extends AsyncDisposable {
  readonly runner: ScriptRunner;
  /** What its scripts must not reach; undefined if they run without a sandbox, as their operator has said they may. */
  readonly mustNotReach: readonly CanaryTarget[] | undefined;
  /** Which bounds of scripts the platform does not hold, in words for the operator. */
  readonly notHeld: readonly string[];
}

interface MakerParts extends CreateRunnerOptions {
  readonly config: Readonly<ScriptsManagerConfig>;
}

interface OpenMaker {
  /** Makes sandboxes for scripts. */
  scripts(parts: MakerParts): Promise<SandboxMaker & { readonly apiServer?: URL | undefined }>;
  /** Makes sandboxes of the same kind for what installs packages. */
  installer(parts: MakerParts): Promise<SandboxMaker>;
  /** Which Python is in them: what another one has installed is of no use to it. */
  environment(config: Readonly<ScriptsManagerConfig>): string;
}

async function openKubernetesMaker(
  { config, log }: MakerParts,
  options: Pick<KubernetesMakerOptions, "command" | "limits" | "maxRunMs" | "packages">,
) {
  const { kubernetesMaker } = await import("@rockbot/sandbox/kubernetes"); // its client takes long to load
  return kubernetesMaker({
    kubeconfigFile: config.kubeconfigFile,
    allowUnverifiedTls: config.kubernetesUnverifiedTls,
    namespace: config.kubernetesNamespace,
    image: config.kubernetesImage,
    serviceAccountName: config.kubernetesServiceAccount,
    priorityClassName: config.kubernetesPriorityClass,
    runtimeClassName: config.kubernetesRuntimeClass,
    scheduleMs: config.kubernetesScheduleMs,
    log,
    ...options,
  });
}

async function openContainerMaker(options: ContainerMakerOptions): Promise<SandboxMaker> {
  const { containerMaker } = await import("@rockbot/sandbox/container"); // its client takes long to load
  return containerMaker(options);
}

/** Each kind of runner is a maker of sandboxes; all else is the same. */
const makers: Readonly<Record<ScriptsManagerConfig["runner"], OpenMaker>> = {
  local: {
    scripts: async ({ config, ...parts }) =>
      openLocalMaker({
        ...machineOf(parts),
        isUnsafe: config.unsafeLocalScripts,
        limits: limitsOf(config),
        packagesFolder: await packagesFolderOf(config),
      }),
    installer: ({ config, ...parts }) =>
      openLocalMaker({
        ...machineOf(parts),
        isUnsafe: config.unsafeLocalScripts,
        limits: installerLimits,
        command: installerCommand,
      }),
    environment: () => "local",
  },
  container: {
    async scripts({ config, log }) {
      const limits = limitsOf(config);
      const packagesSource = config.packagesVolume ?? (await packagesFolderOf(config));
      const command = supervisorCommand("python3", limits);
      return await openContainerMaker({
        ...engineOf(config),
        owner: config.containerOwner,
        command,
        limits,
        packagesSource,
        log,
      });
    },
    installer: async ({ config, log }) => {
      const owner = config.containerOwner && `${config.containerOwner}.installer`;
      return await openContainerMaker({
        ...engineOf(config),
        owner,
        command: installerCommand("python3"),
        limits: installerLimits,
        log,
      });
    },
    environment: ({ containerImage }) => containerImage,
  },
  kubernetes: {
    async scripts(parts) {
      const { config } = parts;
      const folder = await packagesFolderOf(config);
      const packages =
        folder === undefined ? undefined : { folder, maxBytes: Math.ceil(config.pipLayerMiB * MIB * DISK_PER_BYTE) };
      return await openKubernetesMaker(parts, {
        limits: limitsOf(config),
        maxRunMs: config.maxTimeoutSeconds * 1_000,
        packages,
      });
    },
    installer: (parts) =>
      openKubernetesMaker(parts, {
        limits: installerLimits,
        maxRunMs: parts.config.pipTimeoutSeconds * 1_000,
        command: installerCommand("python3"),
      }),
    environment: ({ kubernetesImage }) => kubernetesImage,
  },
};

/**
 * The runner that the settings name, with its pool of warm sandboxes. Disposal ends what it runs.
 * @throws {ToolError} `unavailable`, in words for the operator, if there can be no sandboxes here; the signal's reason
 */
export async function createRunner(
  config: Readonly<ScriptsManagerConfig>,
  options: CreateRunnerOptions,
): Promise<CreatedRunner> {
  const maker = await makers[config.runner].scripts({ ...options, config }).catch(inWords(options));
  const runner = pooledRunner(maker, {
    floor: config.sandboxFloor,
    ceiling: config.sandboxCeiling + (maker.lasts === true ? config.maxSessions : 0),
    idleMs: config.sandboxIdleMs,
    keepBytes: config.keepOutputBytes,
    log: options.log,
  });
  const brokerUrl = config.busUrl === "memory:" ? undefined : new URL(config.busUrl);
  const mustNotReach = config.unsafeLocalScripts ? undefined : canaryTargets({ apiServer: maker.apiServer, brokerUrl });
  return {
    runner,
    mustNotReach,
    notHeld: maker.notHeld ?? [],
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  };
}

/**
 * The installer of packages for the scripts of that runner, if the settings say where packages come from.
 * @throws as `createRunner`
 */
export async function createRunnerPackages(
  config: Readonly<ScriptsManagerConfig>,
  options: CreateRunnerOptions,
): Promise<(PackageStore & AsyncDisposable) | undefined> {
  const { installer, environment } = makers[config.runner];
  if (config.pipIndexUrl === undefined && config.pipWheels === undefined) return undefined;
  return await createPackages(config, {
    openMaker: () => installer({ ...options, config }),
    environment: environment(config),
    log: options.log,
  }).catch(inWords(options));
}

const inWords =
  ({ signal }: CreateRunnerOptions) =>
  (error: unknown): never => {
    signal?.throwIfAborted();
    if (error instanceof ToolError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError(ToolErrorCode.Unavailable, `Cannot run scripts: ${reason}`, {
      isRetryable: false,
      cause: error,
    });
  };

const machineOf = ({ env, log, signal }: CreateRunnerOptions) => ({
  log,
  signal,
  path: env["PATH"],
  isInCluster: env["KUBERNETES_SERVICE_HOST"] !== undefined,
});

const engineOf = ({ containerSocket, containerImage: image }: Readonly<ScriptsManagerConfig>) => ({
  socketPath: engineSocket(containerSocket),
  image,
});

const MIB = 1024 * 1024;
/** Files and folders for each MiB that they may hold. */
const FILES_PER_MIB = 150;
/** Small files take more space on a disk than their contents: a pod has room for so many times the limit of a layer. */
const DISK_PER_BYTE = 1.5;

const limitsOf = ({
  memoryMiB,
  processes,
  processors,
  storageMiB,
}: Pick<ScriptsManagerConfig, "memoryMiB" | "processes" | "processors" | "storageMiB">): SandboxLimits => ({
  memoryBytes: memoryMiB * MIB,
  processes,
  processors,
  storageBytes: storageMiB * MIB,
  storageFiles: storageMiB * FILES_PER_MIB,
});
