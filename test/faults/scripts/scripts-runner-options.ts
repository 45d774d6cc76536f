import type { ScriptJob } from "@rockbot/sandbox";

export interface ScriptsRunnerOptions {
  readonly kubeconfigFile: string;
  readonly namespace: string;
  /** Pods that it keeps warm. */
  readonly floor: number;
  /** What it runs, at once. */
  readonly jobs: readonly ScriptJob[];
}
