import { randomInt } from "node:crypto";
import { type ContentTrust, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { StoreUnavailableError } from "@rockbot/records";
import type { ReplayStore } from "@rockbot/records/replays";
import type { ScriptMessages } from "@rockbot/sandbox";
import type { AskingCallContext, ResumableCallContext, ToolCaller, ToolResult } from "@rockbot/tools";
import { callWaits, misses, notCalling, notRecorded, withEffects } from "./script-call-errors.ts";
import { childId, ScriptCalls } from "./script-calls.ts";
import { type ScriptBeginning, scriptModule } from "./script-module.ts";
import { type ScriptCall, ScriptRecord } from "./script-record.ts";

/** The context of a script's call: it may be run again from its record, and wait for its calls. */
export type ScriptContext = ResumableCallContext & Pick<AskingCallContext, "noteHandle">;

export interface ScriptToolsOptions {
  /** Opens what calls tools, once a script may call one. */
  readonly caller: () => Promise<ToolCaller>;
  readonly store: ReplayStore;
  /** Keeps the calls of cells, which are never run again, while their cells run. */
  readonly cells: ReplayStore;
  readonly policy: PolicyHolder;
  readonly maxCalls: number;
  readonly maxAnswerBytes: number;
}

/** How long a call that waits for people is asked for, and how often. */
const ASK_MS = 1_000;
const AGAIN_MS = 3_000;

/** Lets scripts call tools, as far as the policy names some for their caller. */
export class ScriptTools {
  readonly #options: ScriptToolsOptions;

  constructor(options: ScriptToolsOptions) {
    this.#options = options;
  }

  /**
   * What a script needs for its calls. Undefined if its caller's scripts may call nothing, and it has called nothing
   * before.
   * @throws {ToolError} if the record of its calls cannot be opened, or nobody knows how far it came
   * @throws what ends the call until one of its own has ended
   */
  async open(context: ScriptContext): Promise<ScriptSession | undefined> {
    const { store, policy, maxCalls, maxAnswerBytes } = this.#options;
    const { caller: by, toolCallId, mayHaveBegun = false } = context;
    const names = policy.current().scriptToolsOf(by);
    if (names.length === 0 && !mayHaveBegun) return undefined;
    const fresh = newBeginning();
    const opened = await store
      .open({ caller: by, toolCallId }, mayHaveBegun ? undefined : JSON.stringify(fresh))
      .catch((error: unknown) => {
        throw error instanceof StoreUnavailableError ? notRecorded(error, []) : error;
      });
    if (opened === undefined || (mayHaveBegun && opened.heads.size === 0)) return undefined;
    const record = new ScriptRecord(store, opened);
    const { caller, tools } = await this.#callable(by, names);
    const calls = new ScriptCalls({ caller, context, record, tools, maxCalls, maxAnswerBytes });
    const session = new ScriptSession({ caller, context, record, calls });
    await session.awaitPeople();
    const module = scriptModule(tools, JSON.parse(opened.beginning) as ScriptBeginning);
    return session.with({ module, onMessage: (message, port) => calls.onMessage(message, port) });
  }

  /**
   * What a cell of a session needs for its calls. Undefined if its caller's scripts may call nothing, and its session has
   * no module `rockbot`. A cell is never run again: a call of it that still waits for people at its end fails.
   */
  async openCell(
    context: ResumableCallContext,
    { trust, hasModule }: { readonly trust: ContentTrust | undefined; readonly hasModule: boolean },
  ): Promise<CellCalls | undefined> {
    const { cells, policy, maxCalls, maxAnswerBytes } = this.#options;
    const { caller: by, toolCallId } = context;
    const names = policy.current().scriptToolsOf(by);
    if (names.length === 0 && !hasModule) return undefined;
    const { caller, tools } = await this.#callable(by, names);
    const fresh = newBeginning();
    const opened = await cells.open({ caller: by, toolCallId }, JSON.stringify(fresh));
    if (opened === undefined) return undefined;
    const record = new ScriptRecord(cells, opened);
    const insteadOfWaiting = async ({ tool, path }: ScriptCall): Promise<ToolError> => {
      const service = caller.tools.get(tool)?.source ?? "";
      await caller.withdraw({ service, caller: by, toolCallId: childId(toolCallId, path) }).catch(() => {}); // it expires
      return callWaits(tool);
    };
    const calls = new ScriptCalls({
      ...{ caller, context, record, tools, maxCalls, maxAnswerBytes, trust },
      insteadOfWaiting,
    });
    return {
      calls,
      module: scriptModule(tools, fresh),
      effects: () => record.effects(),
      async end() {
        calls.end();
        await record.end();
      },
    };
  }

  /** Who makes the calls, and which of the tools are there. @throws {ToolError} if nobody can call */
  async #callable(by: string, names: readonly string[]) {
    const caller = await this.#options.caller().catch((error: unknown) => {
      throw notCalling(error);
    });
    await caller.discovered();
    return { caller, tools: caller.toolsOf(by).filter(({ name }) => names.includes(name)) };
  }

  /** Gives up a call that waits for people, of a script that has ended. */
  async drop(handle: string): Promise<void> {
    const { service, caller: by, toolCallId } = JSON.parse(handle) as Handle;
    await (await this.#options.caller()).withdraw({ service, caller: by, toolCallId });
  }
}

const newBeginning = (): ScriptBeginning => ({
  seed: randomInt(2 ** 32),
  startedAt: Math.floor(Date.now() / 1_000),
});

/** The calls of one cell. */
export interface CellCalls {
  readonly calls: ScriptCalls;
  /** The module `rockbot` of a session that begins now. */
  readonly module: string;
  /** The tools with effects that it has called. */
  effects(): readonly string[];
  end(): Promise<void>;
}

/** Names a call that waits for people. */
interface Handle {
  readonly service: string;
  readonly caller: string;
  readonly toolCallId: string;
}

interface SessionParts {
  readonly caller: ToolCaller;
  readonly context: ScriptContext;
  readonly record: ScriptRecord;
  readonly calls: ScriptCalls;
}

/** One run of a script that may call tools. */
export class ScriptSession {
  readonly #parts: SessionParts;
  #messages: ScriptMessages | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  with(messages: ScriptMessages): this {
    this.#messages = messages;
    return this;
  }

  get messages(): ScriptMessages | undefined {
    return this.#messages;
  }

  /** Counts the runs of the script. */
  get attempt(): number {
    return this.#parts.record.attempt;
  }

  /** True once the script has come to all places that an earlier run of it came to. */
  get isCaughtUp(): boolean {
    return this.#parts.record.missed === undefined;
  }

  get hasReadUntrusted(): boolean {
    return this.#parts.calls.trust != null;
  }

  /** Aborts when the script must end. */
  get stopped(): AbortSignal {
    return this.#parts.calls.stopped;
  }

  /**
   * Brings the calls that wait for people to their ends.
   * @throws what ends the call of the script for now, if one of them still waits
   */
  async awaitPeople(): Promise<void> {
    const { record, calls } = this.#parts;
    for (const call of await this.#waiting()) {
      const end = await calls.make(call, ASK_MS);
      if (end instanceof ToolError && end.code === ToolErrorCode.Pending) await this.#wait(call, end);
      else await record.ended(call, call.hasEffects, end);
    }
  }

  /** The outcome of a run that has not failed. @throws {ToolError} if the script did less than before */
  async done<Output>(result: ToolResult<Output>): Promise<ToolResult<Output>> {
    const { record, calls } = this.#parts;
    calls.end();
    const { missed } = record;
    if (missed !== undefined) throw misses(missed, record.effects());
    await this.#end();
    const { trust } = calls;
    return trust == null ? result : { ...result, trust };
  }

  /** What the call of the script ends with. @throws always */
  async failed(error: unknown): Promise<never> {
    const { record, calls, context } = this.#parts;
    const reason: unknown = calls.stopped.aborted ? calls.stopped.reason : error;
    if (reason instanceof ToolError && reason.code === ToolErrorCode.Pending) {
      const [call] = await this.#waiting();
      if (call !== undefined) await this.#wait(call, reason);
    }
    if (error instanceof ToolError || calls.stopped.aborted) calls.end(); // else this process stops, and the next one goes on
    if (!(reason instanceof ToolError)) throw reason;
    if (!context.signal.aborted || context.signal.reason instanceof ToolError) await this.#end();
    throw withEffects(reason, record.effects());
  }

  async #waiting(): ReturnType<ScriptRecord["waiting"]> {
    const { record } = this.#parts;
    return await record.waiting().catch((error: unknown) => {
      throw error instanceof StoreUnavailableError ? notRecorded(error, record.effects()) : error;
    });
  }

  async #end(): Promise<void> {
    await this.#parts.record.end().catch(() => {}); // then it goes by itself
  }

  /** Ends this run of the call until one of its own has ended. */
  async #wait({ path, tool }: ScriptCall, pending: ToolError): Promise<void> {
    const { caller, context } = this.#parts;
    const service = caller.tools.get(tool)?.source ?? "";
    const handle: Handle = { service, caller: context.caller, toolCallId: childId(context.toolCallId, path) };
    await context.noteHandle(JSON.stringify(handle));
    await context.later?.(AGAIN_MS);
    await caller.withdraw(handle).catch(() => {}); // it expires
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `The script was ended: its call of "${tool}" waits for people, and nothing here keeps a script that waits. Call the tool without a script.`,
      { cause: pending, isRetryable: false, details: { reason: "script_waits" } },
    );
  }
}
