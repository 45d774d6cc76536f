import type { McpServer, McpServerOptions } from "@rockbot/mcp";
import type { PinMode } from "@rockbot/trust";

/** An MCP server as the rest of the bridge sees it, whether this replica is connected to it or another one is. */
export interface BridgedServer extends ConnectedServer {
  /** The name of the replica that has it, as far as is known; undefined where each replica is connected by itself. */
  readonly owner?: string | undefined;
}

type ConnectedServer = Pick<
  McpServer,
  | "name"
  | "trustsAnnotations"
  | "tools"
  | "isHeard"
  | "instructions"
  | "health"
  | "onChange"
  | "refresh"
  | "screenAgain"
  | "retire"
  | "callTool"
  | "cancelTask"
  | typeof Symbol.asyncDispose
>;

/** One entry of the file, or what an agent has registered. */
export interface BridgedServerOptions extends McpServerOptions {
  /** It keeps state between calls: one replica at a time has it. @default false */
  readonly isStateful?: boolean | undefined;
  /** How long results are kept, for equal calls of the same caller. @default not at all */
  readonly cacheMs?: number | undefined;
  /** Servers that name the same queue share its limit. @default `queue` is the server's own */
  readonly queueName?: string | undefined;
  /** Results of more characters are kept in chunks by an agent. @default as the agent has it */
  readonly maxResultChars?: number | undefined;
  /** True to write each frame to the log. A change of that leaves the server connected. @default false */
  readonly isTraced?: boolean | undefined;
  /** Which of its definitions are pinned without an operator. @default as the bridge is configured */
  readonly pin?: PinMode | "off" | undefined;
}
