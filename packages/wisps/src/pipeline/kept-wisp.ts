import type { KeptRecord } from "@rockbot/agent/plugin";
import type { WispDefinition } from "@rockbot/contracts";

/** A wisp that a caller has saved: a tool of its sessions. */
export interface KeptWisp extends KeptRecord {
  readonly definition: WispDefinition;
  /** JSON Schema of its arguments, which `/input` leads into; undefined if it takes none. */
  readonly inputSchema?: object | undefined;
}

const PREFIX = "wisp__";

/** The name of the tool that a saved wisp is. */
export const wispToolOf = (name: string): string => `${PREFIX}${name}`;

export const isWispTool = (toolName: string): boolean => toolName.startsWith(PREFIX);
