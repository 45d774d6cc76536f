import { pause, startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import {
  type Instructions,
  isRepeatable,
  type McpCallOptions,
  type McpCallResult,
  type McpServer,
  type McpServerHealth,
  type McpServerOptions,
  type McpTool,
} from "@rockbot/mcp";
import { Lease, type LeaseStore } from "@rockbot/records/leases";
import type { BridgedServer } from "../bridged-server.ts";
import type { HandOverCalls } from "./hand-over-calls.ts";
import { NotTakenError, OWNER_LOST } from "./hand-over-error.ts";
import { noteOf, type OwnerNote, readNote } from "./owner-note.ts";

export interface StatefulServerParts {
  readonly leases: LeaseStore;
  readonly handOvers: HandOverCalls;
  /** The name of this replica, a dot, and what tells this entry of the file from those before it. */
  readonly owner: string;
  /** Begins to connect to the server. */
  readonly connect: () => McpServer;
  /** Takes in which of its tools are held by what its owner has seen. Never rejects. */
  readonly follow: () => Promise<void>;
  /** How long calls that run may go on from now when the server is given to another replica. */
  readonly drainLeftMs: () => number;
  readonly log: Logger;
}

/** A call waits this long for a replica that has the server. */
const OWNER_WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 250;
const NOTE_EVERY_MS = 1_000;

/**
 * A server that keeps state between calls. With several replicas one holds it by a lease, and is connected to it. The
 * others hand that replica their calls, and announce the tools from its note. When the owner dies another replica
 * connects anew within seconds, and calls that were in flight end as of unknown outcome.
 */
export class StatefulServer implements BridgedServer {
  readonly name: string;
  readonly trustsAnnotations: boolean;
  readonly #parts: StatefulServerParts;
  readonly #lease: Lease;
  readonly #leaseName: string;
  readonly #notes: AsyncDisposable;
  readonly #listeners = new Set<() => void>();
  /** Aborts when the replica that has the server now has it no more. */
  #ownerGone = new AbortController();
  #owner = "";
  /** The connection of this replica, while it has the server. */
  #own: McpServer | undefined;
  #note: OwnerNote | undefined;
  #noteTag = "";
  #isClosed = false;
  readonly #leaving = new Set<Promise<void>>();

  constructor({ name, trustsAnnotations = false }: McpServerOptions, parts: StatefulServerParts) {
    this.name = name;
    this.trustsAnnotations = trustsAnnotations;
    this.#parts = parts;
    this.#leaseName = `server.${name.toLowerCase()}`;
    this.#lease = new Lease(parts.leases, this.#leaseName, { owner: parts.owner });
    this.#lease.onChange(() => this.#ownerChanged());
    this.#notes = startLoop(NOTE_EVERY_MS, () => this.#shareNote());
  }

  get tools(): readonly McpTool[] {
    return (this.#own?.isHeard ? this.#own.tools : this.#note?.tools) ?? [];
  }

  get isHeard(): boolean {
    return this.#own?.isHeard === true || (this.#note?.tools ?? null) !== null;
  }

  get instructions(): Instructions | undefined {
    if (this.#own?.isHeard) return this.#own.instructions;
    const { instructions = null, areInstructionsApproved: isApproved } = this.#note ?? {};
    return instructions === null ? undefined : { description: instructions, isApproved };
  }

  get health(): McpServerHealth {
    if (this.#own !== undefined) return this.#own.health;
    const { state = "connecting", transport = "another replica", protocolVersion } = this.#note ?? {};
    return {
      name: this.name,
      state: this.#isClosed ? "stopped" : state,
      transport,
      protocolVersion: protocolVersion ?? undefined,
      tools: this.tools.length,
      leftOut: this.#note?.leftOut ?? [],
      failures: state === "failing" || state === "broken" ? 1 : 0,
      lastFailure: undefined,
      nextAttemptInMs: undefined,
    };
  }

  get owner(): string | undefined {
    const { holder } = this.#lease;
    return holder && instanceOf(holder.owner);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async refresh(): Promise<void> {
    await this.#own?.refresh();
  }

  async screenAgain(): Promise<void> {
    await (this.#own === undefined ? this.#parts.follow() : this.#own.screenAgain());
  }

  /** Such a server ends with its replica, and may make no tasks. @throws {ToolError} */
  async callTool(
    tool: McpTool,
    args: Record<string, unknown>,
    { task, ...options }: McpCallOptions,
  ): Promise<McpCallResult> {
    if (task?.id !== undefined)
      throw new ToolError(
        ToolErrorCode.OutcomeUnknown,
        `"${tool.name}" was a task of a server that has ended since. It may have had effects: find out before you call it again.`,
        {
          details: { mayHaveRun: true },
        },
      );
    const { signal } = options;
    const startedAt = performance.now();
    const deadline = startedAt + options.timeoutMs;
    const giveUpAt = Math.min(deadline, startedAt + OWNER_WAIT_MS);
    let wasLost = false;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.#callOwner(tool, args, { ...options, timeoutMs: deadline - performance.now() });
      } catch (error) {
        const mayRepeat =
          !wasLost && isOwnerLost(error) && isRepeatable(tool, this.trustsAnnotations) && !this.#isClosed;
        if (mayRepeat) wasLost = true;
        else if (!(error instanceof NotTakenError)) throw error;
        if (performance.now() >= (wasLost ? deadline : giveUpAt)) throw mayRepeat ? error : this.#away();
      }
      await this.#untilChanged(LOOK_AGAIN_MS, signal);
    }
  }

  async cancelTask(): Promise<void> {}

  /**
   * A call that another replica has handed over.
   * @throws {NotTakenError} if this one does not have the server
   * @throws {ToolError}
   */
  async callOwn(toolName: string, args: Record<string, unknown>, options: McpCallOptions): Promise<McpCallResult> {
    const own = this.#own;
    if (!this.#lease.isHeld || own === undefined || this.#isClosed)
      throw new NotTakenError("this replica does not have the server");
    const tool = this.tools.find(({ name }) => name === toolName);
    if (tool !== undefined) return own.callTool(tool, args, { ...options, mayStart: () => this.#lease.isHeld });
    const isStillAsked = !this.isHeard && own.health.state === "connecting";
    throw (
      (isStillAsked ? undefined : own.refusalOf(toolName)) ??
      new NotTakenError("it is not known here yet what the server offers")
    );
  }

  async retire(drainMs: number): Promise<void> {
    await this.#end(drainMs);
  }

  /** Waits for the calls that run here, then gives the server to another replica. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(this.#parts.drainLeftMs());
  }

  async #end(drainMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const own = this.#own;
    await this.#notes[Symbol.asyncDispose]();
    await own?.retire(drainMs); // before the lease goes: whoever has it next starts another
    await this.#lease[Symbol.asyncDispose]();
    await Promise.all(this.#leaving);
    this.#ownerGone.abort(new Error("this replica stops"));
  }

  #callOwner(tool: McpTool, args: Record<string, unknown>, options: McpCallOptions): Promise<McpCallResult> {
    if (this.#lease.isHeld && this.#own !== undefined && !this.#isClosed)
      return this.#own.callTool(tool, args, { ...options, mayStart: () => this.#lease.isHeld });
    const owner = this.#lease.holder?.owner;
    if (owner === undefined || owner === this.#parts.owner)
      return Promise.reject(new NotTakenError("no replica has the server"));
    const instance = instanceOf(owner);
    return this.#parts.handOvers.call(
      { instance, server: this.name, tool: tool.name, args, ownerGone: this.#ownerGone.signal },
      options,
    );
  }

  #ownerChanged(): void {
    const { holder } = this.#lease;
    const owner = holder === undefined ? this.#owner : `${holder.owner} ${holder.fence}`;
    if (owner !== this.#owner) {
      this.#owner = owner;
      this.#ownerGone.abort(new Error("the server is with another replica now"));
      this.#ownerGone = new AbortController();
    }
    if (this.#isClosed) return;
    if (this.#lease.isHeld) this.#takeOver();
    else if (holder !== undefined && holder.owner !== this.#parts.owner) this.#letGo();
    this.#changed();
  }

  /** The connection may be there already: the lease ran out, and nobody has taken it. */
  #takeOver(): void {
    if (this.#own !== undefined) return;
    this.#parts.log.info({ server: this.name }, "this replica now runs the stateful server");
    this.#own = this.#parts.connect();
    this.#own.onChange(() => this.#changed());
    this.#noteTag = "";
  }

  #letGo(): void {
    const own = this.#own;
    if (own === undefined) return;
    this.#own = undefined;
    this.#parts.log.warn(
      { server: this.name },
      "lost the lease of a stateful server to another replica, and ended its calls here",
    );
    const left = own[Symbol.asyncDispose]().finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  /** The owner leaves its note, the others read it. A store that is away is asked again. */
  async #shareNote(): Promise<void> {
    const { leases, owner } = this.#parts;
    try {
      if (this.#own !== undefined) {
        if (this.#own.health.state === "connecting") return; // what is known of it is what the owner before knew
        const note = noteOf(this.#own);
        if (note.tag === this.#noteTag) return;
        await leases.leaveNote(this.#leaseName, owner, note);
        this.#noteTag = note.tag;
      } else {
        const note = await leases.readNote(this.#leaseName, this.#noteTag);
        if (note === undefined) return;
        await this.#parts.follow(); // first: a tool that is gone from the note is refused in words
        if (this.#own !== undefined) return;
        this.#noteTag = note.tag;
        const read = readNote(note);
        if (read !== undefined) this.#note = { ...read, tools: read.tools ?? this.#note?.tools ?? null };
        this.#changed();
      }
    } catch (error) {
      this.#parts.log.debug(
        { server: this.name, error: String(error) },
        "could not share what is known of a stateful server",
      );
    }
  }

  async #untilChanged(ms: number, signal: AbortSignal): Promise<void> {
    const wake = new AbortController();
    const off = this.#lease.onChange(() => wake.abort());
    await pause(ms, AbortSignal.any([signal, wake.signal]));
    off();
    await this.#lease.look();
  }

  #away(): ToolError {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `The MCP server "${this.name}" is with no replica of the bridge now. Nothing was run. Try again later.`,
      {
        retryAfterMs: 1_000,
        details: { mayHaveRun: false, reason: "server_away" },
      },
    );
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The instance of an owner of the lease: see StatefulServerParts. */
const instanceOf = (owner: string): string => owner.split(".")[0] ?? owner;

const isOwnerLost = (error: unknown): boolean => error instanceof ToolError && error.details?.["reason"] === OWNER_LOST;
