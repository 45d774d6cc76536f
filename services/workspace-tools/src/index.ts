// To run the service.

export { configSchema, type WorkspaceToolsConfig } from "./generated/config.ts";
export { type RunningWorkspaceTools, type StartWorkspaceToolsOptions, startWorkspaceTools } from "./workspace-tools.ts";
