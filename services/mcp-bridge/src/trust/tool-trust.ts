import { metrics, type ObservableResult } from "@opentelemetry/api";
import type { Logger } from "@rockbot/bus";
import { announcedMcpName, mayBeAnnouncedMcpName, ToolError, ToolErrorCode, type ToolGuide } from "@rockbot/contracts";
import { INSTRUCTIONS, type McpTool, type ToolScreen } from "@rockbot/mcp";
import { StoreUnavailableError } from "@rockbot/records";
import {
  forgetWaiting,
  type HeldTool,
  heldError,
  isOthersPin,
  PinBook,
  type PinMode,
  readWaiting,
  type Trust,
  type TrustStore,
} from "@rockbot/trust";
import type { BridgedServerOptions } from "../bridged-server.ts";

export interface ToolTrustOptions extends Trust {
  /** For servers that do not say. */
  readonly pin: PinMode | "off";
  readonly log: Logger;
}

/**
 * Keeps back what servers say of their tools until it is pinned. A held tool is neither announced nor called; a call of
 * it is answered in words. A server offers nothing while its pins cannot be read.
 */
export class ToolTrust implements Disposable {
  readonly #store: TrustStore;
  readonly #book: PinBook;
  readonly #pin: PinMode | "off";
  readonly #log: Logger;
  /** Servers that are screened, by the names that they have. */
  readonly #screened = new Set<string>();
  readonly #unreadable = new Set<string>();
  readonly #quarantined = metrics.getMeter("@rockbot/mcp-bridge").createCounter("rockbot.mcp.tools.quarantined", {
    description:
      "Definitions of MCP tools that were held for an operator's approval, by server and reason: new, changed, renamed or suspicious.",
  });
  readonly #held = metrics.getMeter("@rockbot/mcp-bridge").createObservableGauge("rockbot.mcp.server.tools_held", {
    description: "Tools of an MCP server that wait for an operator's approval.",
  });

  constructor({ store, filed, pin, log }: ToolTrustOptions) {
    this.#store = store;
    this.#book = new PinBook({ store, filed });
    this.#pin = pin;
    this.#log = log;
    this.#held.addCallback(this.#observe);
  }

  /** True if something is not offered only because approvals could not be read. */
  get isBlind(): boolean {
    return this.#unreadable.size > 0;
  }

  /** The screen that decides for a server which of its tools are offered; undefined if all are. */
  screenOf({ name, pin = this.#pin }: BridgedServerOptions): ToolScreen | undefined {
    if (pin === "off") return undefined;
    this.#screened.add(name);
    return (tools) => this.#screen(name, tools, pin);
  }

  /**
   * Takes in the held tools of a server that another replica is connected to and screens. Calls of them are then
   * refused in words here, too. Never rejects.
   */
  async follow({ name, pin = this.#pin }: BridgedServerOptions): Promise<void> {
    if (pin === "off") return;
    this.#screened.add(name);
    await this.#book.look(name).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailableError)) throw error; // what was read before holds
    });
  }

  /** A server that is not there any more: what waits of it waits no more. */
  forget(server: string): void {
    this.#screened.delete(server);
    this.#unreadable.delete(server);
    this.#book.forget(server);
    void forgetWaiting(this.#store, server).catch((error: unknown) =>
      this.#log.warn(
        { server, reason: String(error) },
        "could not remove what waits for approval of a server that is gone",
      ),
    );
  }

  /** The same of all that have something waiting and are none of these. @throws {StoreUnavailableError} */
  async forgetOthers(servers: readonly string[]): Promise<void> {
    const known = new Set(servers.map((server) => server.toLowerCase()));
    const { tools } = await readWaiting(this.#store);
    for (const server of new Set(tools.map((tool) => tool.server)))
      if (!known.has(server.toLowerCase()) && !isOthersPin(server)) await forgetWaiting(this.#store, server);
  }

  /** The tools that wait for an operator. */
  waitingOn(server: string): readonly HeldTool[] {
    return this.#heldOn(server).filter(({ rejectedBy }) => rejectedBy === undefined);
  }

  /** The held tools of a server, in words for callers that may use it. */
  heldAs(server: string): NonNullable<ToolGuide["held"]> {
    const tools = this.#heldOn(server).filter(({ name }) => name !== INSTRUCTIONS);
    return tools.map((held) => ({
      name: announcedMcpName(server, held.name),
      why: heldToolError(server, held).message,
      reason: held.rejectedBy === undefined ? "not_approved" : "rejected",
    }));
  }

  #heldOn(server: string): readonly HeldTool[] {
    return this.#screened.has(server) ? this.#book.held(server) : [];
  }

  /** Why a server's tool that it does not offer is not called, if it is for want of approval. */
  refusalOn(server: string, toolName: string): ToolError | undefined {
    if (this.#unreadable.has(server)) return unreadableError(server);
    const lower = toolName.toLowerCase();
    const held = this.#heldOn(server).find(({ name }) => name.toLowerCase() === lower);
    return held === undefined ? undefined : heldToolError(server, held);
  }

  /** The same where only the tool's name is known: its own or the one it would be announced with. */
  refusalOf(toolName: string): ToolError | undefined {
    const lower = toolName.toLowerCase();
    for (const server of this.#screened) {
      const held = this.#heldOn(server).find(
        ({ name }) => name.toLowerCase() === lower || announcedMcpName(server, name).toLowerCase() === lower,
      );
      if (held !== undefined) return heldToolError(server, held);
      if (this.#unreadable.has(server) && mayBeAnnouncedMcpName(toolName, server)) return unreadableError(server);
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#held.removeCallback(this.#observe);
  }

  async #screen(server: string, tools: readonly McpTool[], mode: PinMode): ReturnType<ToolScreen> {
    try {
      const { offered, approved, newlyHeld } = await this.#book.screen(server, tools, mode);
      this.#unreadable.delete(server);
      for (const held of newlyHeld) this.#alert(server, held);
      return offered.map((tool) => (approved.has(tool.name) ? { ...tool, isApproved: true } : tool));
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      if (!this.#unreadable.has(server))
        this.#log.error({ server, reason: error.message }, "offers nothing of an MCP server whose pins cannot be read");
      this.#unreadable.add(server);
      return undefined;
    }
  }

  #alert(server: string, { name: tool, reason, renamedFrom, suspicions }: HeldTool): void {
    this.#quarantined.add(1, { server, reason });
    this.#log.warn(
      { server, tool, reason, renamedFrom, suspicions },
      'holds a tool of an MCP server until an operator runs "rockbot mcp approve"',
    );
  }

  readonly #observe = (result: ObservableResult): void => {
    for (const server of this.#screened) result.observe(this.waitingOn(server).length, { server });
  };
}

const WHY: Readonly<Record<HeldTool["reason"], string>> = {
  new: "it has come since the server's tools were approved",
  changed: "what the server says of it has changed since it was approved",
  renamed: "it is a tool that was approved under another name",
  suspicious: "its description looks as if it was written to mislead",
};

function unreadableError(server: string): ToolError {
  return new ToolError(
    ToolErrorCode.Unavailable,
    `Nothing of the MCP server "${server}" is called now: which of its tools are approved cannot be read. Nothing was run. Try again later.`,
    { details: { mayHaveRun: false, reason: "approvals_unreadable" } },
  );
}

const heldToolError = (server: string, held: HeldTool): ToolError =>
  heldError(held, {
    what: `"${held.name.slice(0, 80)}" of the MCP server "${server}"`,
    why: WHY[held.reason],
    refused: "what the server says of it",
    undone: "Nothing was run.",
  });
