import type { McpServerOptions } from "@rockbot/mcp";
import type { PinMode } from "@rockbot/mcp-trust";

/** One entry of the file, or what an agent has registered. */
export interface BridgedServerOptions extends McpServerOptions {
  /** Which of its definitions are pinned without an operator. @default as the bridge is configured */
  readonly pin?: PinMode | "off" | undefined;
}
