// To see that scripts have no network.
export { type CanaryTarget, type CanaryTargetsOptions, canaryTargets } from "./canary/canary-targets.ts";
export { type CanaryReport, CanaryVerdict, type CheckNetworkOptions, checkNetwork } from "./canary/check-network.ts";
// To run the service.
export { checkScriptsManagerConfig } from "./check-scripts-manager-config.ts";
export { type CreatedRunner, type CreateRunnerOptions, createRunner, createRunnerPackages } from "./create-runner.ts";
export { configSchema, type ScriptsManagerConfig } from "./generated/config.ts";
// To run scripts.
export { PACKAGES_FOLDER, type PackageLayer } from "./packages/package-layer.ts";
export { type PooledRunnerOptions, pooledRunner } from "./pool/pooled-runner.ts";
export { type PythonFacts, readPythonFacts } from "./python-facts.ts";
// To make sandboxes for them.
export { type Frame, MAX_FRAME_BYTES } from "./sandbox/frames.ts";
export { type JobOutcome, type RunJobOptions, runJob } from "./sandbox/run-job.ts";
export type { MakeSandboxOptions, Sandbox, SandboxEnd, SandboxMaker } from "./sandbox/sandbox.ts";
export { defaultSandboxLimits, type SandboxLimits } from "./sandbox/sandbox-limits.ts";
export { type SupervisorCommandOptions, supervisorCommand } from "./sandbox/supervisor-command.ts";
export { type UntilReadyOptions, untilReady } from "./sandbox/until-ready.ts";
export { type RunScriptOptions, type ScriptJob, ScriptLimit, type ScriptOutcome, type ScriptRunner } from "./script-runner.ts";
// To offer them as a tool without a bus.
export { type ScriptToolSetOptions, scriptToolSet } from "./script-tool-set.ts";
export { type StartScriptsManagerOptions, startScriptsManager } from "./scripts-manager.ts";
// To read requests for them that are parked.
export { scriptRequestForm } from "./tool/script-request-form.ts";

// Sandboxes that are containers.

export { type ContainerMakerOptions, containerMaker } from "./container/container-maker.ts";
export { engineSocket } from "./container/engine-socket.ts";

// What scripts import besides what Python has.

export { installerCommand, installerLimits } from "./packages/installer-command.ts";
export { openPackageStore, type PackageStore, type PackageStoreOptions } from "./packages/package-store.ts";

// Sandboxes that are processes of this machine.

export { type LocalMakerOptions, localWays, openLocalMaker } from "./local/local-maker.ts";
