import { PACKAGES_FOLDER } from "../layer/package-layer.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";

export interface ContainerSpec {
  readonly image: string;
  /** Its first process: says `ready` first, and ends with its stdin. */
  readonly command: readonly string[];
  /** What lies in its /tmp counts as memory too. */
  readonly limits: SandboxLimits;
  /** The packages' folder as the engine knows it: a path on its machine, or the name of one of its volumes. */
  readonly packagesSource?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

const PERIOD_US = 100_000;
/** Nobody: owns nothing in the image. */
const USER = "65534:65534";

/**
 * What the engine is asked for: no network, no capability, no way to a new privilege, nothing that can be written but a
 * /tmp of bounded size, the engine's own seccomp profile, and no log on its disk. Its first process reads its stdin,
 * which ends when the scripts manager does, and then ends too.
 */
export function containerSpec({ image, command, limits, packagesSource, labels }: ContainerSpec): object {
  return {
    Image: image,
    Entrypoint: command,
    Cmd: [],
    User: USER,
    Hostname: "sandbox",
    WorkingDir: "/tmp",
    Labels: labels,
    OpenStdin: true,
    StdinOnce: true, // the end of the one connection to it is the end of stdin
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: true,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      AutoRemove: true,
      NetworkMode: "none",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      Privileged: false,
      SecurityOpt: ["no-new-privileges:true"],
      IpcMode: "private",
      CgroupnsMode: "private",
      PidMode: "",
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes, // both together: no swap
      // Not as a number of processors: the engine refuses one that is larger than its machine's.
      CpuPeriod: PERIOD_US,
      CpuQuota: Math.round(limits.processors * PERIOD_US),
      PidsLimit: limits.processes + 2, // the supervisor, and one too many, which shows that the script wanted more
      OomScoreAdj: 500, // before the machine's other processes
      Ulimits: [
        { Name: "nofile", Soft: 1_024, Hard: 1_024 },
        { Name: "core", Soft: 0, Hard: 0 },
        { Name: "memlock", Soft: 65_536, Hard: 65_536 },
      ],
      Tmpfs: {
        "/tmp": `rw,nosuid,nodev,noexec,mode=1777,size=${limits.storageBytes},nr_inodes=${limits.storageFiles}`,
        "/dev/shm": "rw,nosuid,nodev,noexec,mode=1777,size=1m,nr_inodes=256",
        "/dev/mqueue": "ro,nosuid,nodev,noexec,mode=555,size=4k", // in place of folders that could be written to
      },
      Mounts: packagesSource === undefined ? [] : [packagesMount(packagesSource)],
      LogConfig: { Type: "none", Config: {} },
      RestartPolicy: { Name: "no" },
    },
  };
}

function packagesMount(source: string): object {
  return { Type: source.startsWith("/") ? "bind" : "volume", Source: source, Target: PACKAGES_FOLDER, ReadOnly: true };
}
