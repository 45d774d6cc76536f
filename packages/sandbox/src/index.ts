// To run scripts.

export { type Cell, type CellOutcome, type Interpreter, openInterpreter } from "./interpreter.ts";
export { type PooledRunnerOptions, pooledRunner } from "./pool/pooled-runner.ts";
export {
  type GivenFile,
  goesOn,
  type RunScriptOptions,
  type ScriptFiles,
  type ScriptJob,
  ScriptLimit,
  type ScriptMessages,
  type ScriptOutcome,
  type ScriptPort,
  type ScriptRunner,
} from "./script-runner.ts";

// To see that scripts have no network.

export { type CanaryTarget, type CanaryTargetsOptions, canaryTargets } from "./canary/canary-targets.ts";
export { type CanaryReport, CanaryVerdict, type CheckNetworkOptions, checkNetwork } from "./canary/check-network.ts";

// Sandboxes that are processes of this machine. Those of engines and clusters are subpaths, as their clients take long
// to load.

export { engineSocket } from "./container/engine-socket.ts";
export { UNPRIVILEGED_USER } from "./local/enter-command.ts";
export { type LocalMakerOptions, type LocalSandboxMaker, localWays, openLocalMaker } from "./local/local-maker.ts";
export type { SandboxFolder } from "./local/sandbox-tree.ts";
export type { Way } from "./local/way.ts";

// To make sandboxes of another kind, or to run something else in them.

export { type Frame, MAX_FRAME_BYTES } from "./job/frames.ts";
export { programScript } from "./job/program-script.ts";
export { type JobOutcome, type RunJobOptions, runJob } from "./job/run-job.ts";
export { writeTo } from "./job/write-to.ts";
export { PACKAGES_FOLDER, type PackageLayer } from "./layer/package-layer.ts";
export type { MakeSandboxOptions, Sandbox, SandboxEnd, SandboxMaker } from "./sandbox.ts";
export { defaultSandboxLimits, type SandboxLimits } from "./sandbox-limits.ts";
export { type SupervisorCommandOptions, supervisorCommand } from "./supervisor/supervisor-command.ts";
export { type UntilReadyOptions, untilReady } from "./supervisor/until-ready.ts";
