import { createHash } from "node:crypto";
import { type ContentTrust, canonicalJson, ToolError, type ToolInvokeResponse } from "@rockbot/contracts";
import type { OpenReplay, ReplayStore } from "@rockbot/records/replays";

/** A call that a script asks for, at its place in the script. */
export interface ScriptCall {
  readonly path: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the script had read of untrusted content when it asked first. */
  readonly after?: ContentTrust | undefined;
}

/** How a call ended. */
export type CallEnd = ToolInvokeResponse | ToolError;

interface Head {
  readonly tool: string;
  /** A hash of the tool and the arguments. */
  readonly hash: string;
  readonly state: "asked" | "waits" | "ended";
  /** In the order of the calls. */
  readonly order: number;
  /** When it was asked first, in Unix milliseconds. */
  readonly at: number;
  readonly hasEffects: boolean;
  readonly isError?: boolean;
  readonly after?: ContentTrust | undefined;
}

/** What stands at a place of the record. */
export type Known =
  | { readonly kind: "new" }
  | { readonly kind: "other"; readonly tool: string }
  | { readonly kind: "asked"; readonly sinceMs: number; readonly after: ContentTrust | undefined }
  | { readonly kind: "ended"; readonly end: CallEnd };

/** The calls of one script, as they are kept: what was asked at each place, and how it ended. */
export class ScriptRecord {
  readonly #store: ReplayStore;
  readonly #open: OpenReplay;
  readonly #heads: Map<string, Head>;
  /** Places of the record that the script, run again, has not come to yet. */
  readonly #ahead: Set<string>;
  #caughtUp = Promise.withResolvers<void>();

  constructor(store: ReplayStore, open: OpenReplay) {
    this.#store = store;
    this.#open = open;
    this.#heads = new Map([...open.heads].map(([path, head]) => [path, JSON.parse(head) as Head]));
    this.#ahead = new Set(this.#heads.keys());
    if (this.#ahead.size === 0) this.#caughtUp.resolve();
  }

  get attempt(): number {
    return this.#open.attempt;
  }

  /** A place that an earlier run came to, and this one has not. */
  get missed(): { readonly path: string; readonly tool: string } | undefined {
    const [path] = this.#ahead;
    return path === undefined ? undefined : { path, tool: this.#heads.get(path)?.tool ?? "" };
  }

  /** Resolves once the script has come to all places of its record: only then is anything new asked. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** The tools with effects that were called, in words. */
  effects(): string[] {
    return [...this.#heads.values()]
      .filter(({ hasEffects }) => hasEffects)
      .sort((one, other) => one.order - other.order)
      .map(
        ({ tool, state, isError }) => `${tool} (${state !== "ended" ? "end unknown" : isError ? "failed" : "done"})`,
      );
  }

  /** What the record has of a call. The script has come to its place. @throws {StoreUnavailableError} */
  async look({ path, tool, args }: ScriptCall): Promise<Known> {
    const head = this.#heads.get(path);
    if (head === undefined) return { kind: "new" };
    if (head.hash !== hashOf(tool, args)) return { kind: "other", tool: head.tool };
    const known: Known =
      head.state === "ended"
        ? { kind: "ended", end: decode(await this.#store.read(this.#open, path), path) }
        : { kind: "asked", sinceMs: Math.max(0, Date.now() - head.at), after: head.after };
    this.#ahead.delete(path);
    if (this.#ahead.size === 0) this.#caughtUp.resolve();
    return known;
  }

  /** Notes that a call goes out. @returns false if another process runs the script by now */
  asked(call: ScriptCall, hasEffects: boolean): Promise<boolean> {
    return this.#note(call, { state: "asked", hasEffects }, new Uint8Array());
  }

  /** Notes a call that waits for people, with its arguments. */
  waits(call: ScriptCall, hasEffects: boolean): Promise<boolean> {
    return this.#note(call, { state: "waits", hasEffects }, Buffer.from(JSON.stringify(call.args)));
  }

  ended(call: ScriptCall, hasEffects: boolean, end: CallEnd): Promise<boolean> {
    return this.#note(call, { state: "ended", hasEffects, isError: isError(end) }, encode(end));
  }

  /** The calls that wait for people. */
  async waiting(): Promise<readonly (ScriptCall & Pick<Head, "hasEffects">)[]> {
    const paths = [...this.#heads].filter(([, { state }]) => state === "waits");
    return await Promise.all(
      paths.map(async ([path, { tool, hasEffects, after }]) => {
        const args = JSON.parse(Buffer.from(await this.#store.read(this.#open, path)).toString()) as ScriptCall["args"];
        return { path, tool, args, hasEffects, after };
      }),
    );
  }

  /** Says that the script has its answer. */
  async end(): Promise<void> {
    await this.#store.end(this.#open);
  }

  async #note(
    { path, tool, args, after }: ScriptCall,
    noted: Pick<Head, "state" | "hasEffects" | "isError">,
    bytes: Uint8Array,
  ): Promise<boolean> {
    const before = this.#heads.get(path);
    const { order = this.#heads.size, at = Date.now() } = before ?? {};
    const head: Head = { tool, hash: before?.hash ?? hashOf(tool, args), order, at, after, ...noted };
    this.#heads.set(path, head);
    return await this.#store.note(this.#open, path, JSON.stringify(head), bytes);
  }
}

const hashOf = (tool: string, args: object): string =>
  createHash("sha256")
    .update(canonicalJson([tool, args]))
    .digest("base64url");

const isError = (end: CallEnd): boolean => end instanceof ToolError || end.isError === true;

function encode(end: CallEnd): Buffer {
  if (!(end instanceof ToolError)) return Buffer.from(JSON.stringify({ response: end }));
  const { code, message, isRetryable, retryAfterMs, details, trust } = end;
  return Buffer.from(
    JSON.stringify({ error: { code, message, options: { isRetryable, retryAfterMs, details, trust } } }),
  );
}

interface Encoded {
  readonly response?: ToolInvokeResponse;
  readonly error?: {
    readonly code: ToolError["code"];
    readonly message: string;
    readonly options: ConstructorParameters<typeof ToolError>[2];
  };
}

function decode(bytes: Uint8Array, path: string): CallEnd {
  const { response, error } = JSON.parse(Buffer.from(bytes).toString()) as Encoded;
  if (error !== undefined) return new ToolError(error.code, error.message, error.options);
  if (response === undefined) throw new TypeError(`the record has no answer at ${path}`);
  return response;
}
