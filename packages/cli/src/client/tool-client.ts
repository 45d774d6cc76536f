import type { AgentEvent, ToolGuide, ToolInvokeResponse } from "@rockbot/contracts";
import type { CallOptions, ListedTool, MissingList } from "@rockbot/tools";
import type { OffTool } from "../runtime/off-tools.ts";

/** Where a command's calls go: a running `rockbot up`, services behind a broker, or tools in this process. */
export interface ToolClient extends AsyncDisposable {
  /** The place in words, for the user. */
  readonly where: string;
  /** False if calls that wait for people, or run detached, end with this command. */
  readonly keepsRuns: boolean;
  /** The tools that can be called now, sorted by name. */
  listTools(): Promise<readonly ListedTool[]>;
  /** Services that are there and whose tools are not known, sorted by name. */
  listMissing(): Promise<readonly Pick<MissingList, "service" | "fault">[]>;
  /** The tools that are not offered, as far as is known there: services behind a broker do not say. */
  listOff(): Promise<readonly OffTool[]>;
  /** All guides, sorted by name. */
  getGuides(): Promise<readonly ToolGuide[]>;
  /** Calls `listener` when tools have come or gone, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /**
   * The steps of a session of the agent, until the signal aborts. Steps of a turn that has not begun yet are among
   * them; with its id they may begin with it. Resolves once it listens.
   * @throws {ToolError} if the session cannot be followed
   */
  follow(sessionId: string, turnId: string | undefined, signal: AbortSignal): Promise<AsyncIterable<AgentEvent>>;
  /** @throws {ToolError} if the call failed */
  call(name: string, args: object, options: CallOptions & { readonly toolCallId: string }): Promise<ToolInvokeResponse>;
}
