// To run scripts.

export { PACKAGES_FOLDER, type PackageLayer } from "./packages/package-layer.ts";
export { type PooledRunnerOptions, pooledRunner } from "./pool/pooled-runner.ts";
// To make sandboxes for them.
export { type Frame, MAX_FRAME_BYTES } from "./sandbox/frames.ts";
export { type JobOutcome, type RunJobOptions, runJob } from "./sandbox/run-job.ts";
export type { MakeSandboxOptions, Sandbox, SandboxEnd, SandboxMaker } from "./sandbox/sandbox.ts";
export { defaultSandboxLimits, type SandboxLimits } from "./sandbox/sandbox-limits.ts";
export { type SupervisorCommandOptions, supervisorCommand } from "./sandbox/supervisor-command.ts";
export { type UntilReadyOptions, untilReady } from "./sandbox/until-ready.ts";
export { type RunScriptOptions, type ScriptJob, ScriptLimit, type ScriptOutcome, type ScriptRunner } from "./script-runner.ts";
