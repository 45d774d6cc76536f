import {
  arch,
  availableParallelism,
  cpus,
  freemem,
  hostname,
  loadavg,
  platform,
  release,
  totalmem,
  uptime,
  version,
} from "node:os";

/** The facts that a process knows of its runtime: `process` is one. */
export interface Runtime {
  readonly version: string;
  /** Bytes that the system lets this process have; 0 if it sets no limit. */
  constrainedMemory(): number;
}

export function systemInfo(runtime: Runtime): object {
  const processors = cpus();
  const limit = runtime.constrainedMemory();
  return {
    os: { platform: platform(), release: release(), version: version(), architecture: arch(), hostname: hostname() },
    cpu: {
      model: processors[0]?.model.trim() ?? "unknown",
      processors: processors.length,
      usableProcessors: availableParallelism(),
      loadAverage: loadavg(),
    },
    memory: {
      totalBytes: totalmem(),
      freeBytes: freemem(),
      ...(limit > 0 && limit < totalmem() ? { limitBytes: limit } : {}),
    },
    uptimeSeconds: Math.floor(uptime()),
    runtime: { name: "Node.js", version: runtime.version },
  };
}
