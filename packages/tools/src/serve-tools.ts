import type { Bus, Logger } from "@rockbot/bus";
import type { ToolSet } from "./tool-set.ts";

export interface ServeToolsOptions {
  /** The service's name: its subscription, and its word in `tool.announce.{service}`. */
  readonly service: string;
  /** Where its requests come: `tool.invoke` for web-tools, `tool.invoke.{service}` for others. @default `tool.invoke.{service}` */
  readonly topic?: string | undefined;
  /** How many calls run at once. @default 32 */
  readonly concurrency?: number | undefined;
  /** How long disposal waits for running calls, in milliseconds. @default 20_000 */
  readonly drainMs?: number | undefined;
  readonly log?: Logger | undefined;
}

export type ServeTools = (bus: Bus, set: ToolSet, options: ServeToolsOptions) => Promise<AsyncDisposable>;
