// To run the service.

export { type CreatedRunner, type CreateRunnerOptions, createRunner, createRunnerPackages } from "./create-runner.ts";
export { configSchema, type ScriptsManagerConfig } from "./generated/config.ts";
export { type StartScriptsManagerOptions, startScriptsManager } from "./scripts-manager.ts";
export { startWithRunner } from "./start-with-runner.ts";

// To offer its tool without a bus.

export { type PythonFacts, readPythonFacts } from "./python-facts.ts";
export { type ScriptToolSetOptions, scriptToolSet } from "./script-tool-set.ts";

// To read requests for it that are parked.

export { scriptRequestForm } from "./tool/script-request-form.ts";

// The packages that scripts import besides Python's own modules.

export { installerCommand, installerLimits } from "./packages/installer/installer-command.ts";
export { openPackageStore, type PackageStore, type PackageStoreOptions } from "./packages/package-store.ts";
