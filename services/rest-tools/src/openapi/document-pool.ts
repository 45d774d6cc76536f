import { createHash } from "node:crypto";
import { createSemaphore, startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";
import { followStore, type HeldTool, PinBook, type PinMode, REST_PINS, type TrustStore } from "@rockbot/mcp/trust";
import { StoreUnavailableError } from "@rockbot/records";
import type { RestOperation } from "../rest-operation.ts";
import type { DocumentImport } from "./document-import.ts";
import { fetchDocument } from "./fetch-document.ts";
import { type ImportedOperation, importOperations } from "./import-operations.ts";
import { readOpenApiDocument } from "./open-api-document.ts";

export interface DocumentPoolOptions {
  readonly fetch: PublicFetch;
  readonly store: TrustStore;
  /** The operator's file of pins beside a shared store. */
  readonly filed: TrustStore | undefined;
  readonly pin: PinMode;
  readonly refreshMs: number;
  readonly onChange: () => void;
  readonly log: Logger;
}

/** One import as it stands. */
interface Entry {
  readonly from: DocumentImport;
  /** Of the last document that could be read, with what the file says of it. */
  hash: string | undefined;
  imported: readonly ImportedOperation[];
  offered: readonly RestOperation[];
  held: readonly HeldTool[];
  fault: string | undefined;
  /** Whether only the store has kept its operations from being offered. */
  isBlind: boolean;
  /** The work on it, one after the other. It never rejects. */
  working: Promise<void>;
}

/** Documents that are read at once: each may be large. */
const AT_ONCE = 4;

/**
 * The operations of all imported documents. Each document is read again from time to time. One that cannot be read leaves the operations of before;
 * one that has changed is held back, operation by operation, until an operator approves.
 */
export class DocumentPool implements AsyncDisposable {
  readonly #options: DocumentPoolOptions;
  readonly #book: PinBook;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Set<Promise<void>>();
  readonly #places = createSemaphore(AT_ONCE);
  readonly #stop = new AbortController();
  readonly #refreshing: AsyncDisposable;
  readonly #following: AsyncDisposable;

  constructor(options: DocumentPoolOptions) {
    this.#options = options;
    this.#book = new PinBook({ store: options.store, filed: options.filed });
    this.#refreshing = startLoop(options.refreshMs, () => this.#each((entry) => this.#read(entry)));
    this.#following = followStore(options.store, {
      // What was decided of others does not wait for a document that is slow to come.
      onChange: async () => void this.#each((entry) => this.#screenAgain(entry)),
      isBehind: () => [...this.#entries.values()].some(({ isBlind }) => isBlind),
    });
  }

  /** Goes by what the file says now. Resolves once each document was read, or could not be. */
  async apply(imports: readonly DocumentImport[]): Promise<void> {
    const names = new Set(imports.map(({ name }) => name));
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#entries.delete(name);
    const none = { imported: [], offered: [], held: [], fault: "it is still being read", isBlind: false, working: Promise.resolve() };
    // An entry of its own, so that what is read now by the file of before changes nothing.
    for (const from of imports) this.#entries.set(from.name, { ...none, ...this.#entries.get(from.name), from, hash: undefined });
    await this.#each((entry) => this.#read(entry));
  }

  /** Works on each document, on one after what is done with it already. */
  async #each(work: (entry: Entry) => Promise<void>): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => this.#queue(entry, work)));
  }

  #queue(entry: Entry, work: (entry: Entry) => Promise<void>): Promise<void> {
    const working = entry.working
      .then(async () => {
        await work(entry);
        this.#options.onChange();
      })
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.log.error({ document: entry.from.name, error }, "could not work on an OpenAPI document");
      })
      .finally(() => this.#pending.delete(working));
    entry.working = working;
    this.#pending.add(working);
    return working;
  }

  get operations(): readonly RestOperation[] {
    return [...this.#entries.values()].flatMap(({ offered }) => offered);
  }

  /** Documents that could not be read the last time, or not yet, and why. */
  get faults(): readonly { readonly name: string; readonly why: string }[] {
    return [...this.#entries.values()].flatMap(({ from: { name }, fault, isBlind }) => {
      const why = isBlind ? "which of its operations are approved cannot be read" : fault;
      return why === undefined ? [] : [{ name, why }];
    });
  }

  /** The operations that wait for an operator, by the names that their tools would have. */
  get held(): readonly { readonly toolName: string; readonly error: ToolError; readonly isRejected: boolean }[] {
    return [...this.#entries.values()].flatMap(({ from, imported, held }) => {
      const byName = new Map(imported.map((each) => [each.seen.name, each.operation.toolName]));
      return held.flatMap((each) => {
        const toolName = byName.get(each.name);
        return toolName === undefined ? [] : [{ toolName, error: heldError(from.name, each), isRejected: each.rejectedBy !== undefined }];
      });
    });
  }

  async #read(entry: Entry): Promise<void> {
    const { fetch, log } = this.#options;
    const { from } = entry;
    try {
      using _place = await this.#places.acquire(this.#stop.signal);
      const { text, at } = await fetchDocument(from, fetch, this.#stop.signal);
      const hash = createHash("sha256").update(text).digest("hex");
      if (hash !== entry.hash) {
        const { operations, leftOut } = importOperations(readOpenApiDocument(text), from, at);
        entry.imported = operations;
        entry.hash = hash;
        log.info({ document: from.name, operations: operations.length, leftOut: leftOut.slice(0, 20) }, "read an OpenAPI document");
      }
      entry.fault = undefined;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      entry.fault = (error as Error).message;
      log.warn({ document: from.name, reason: entry.fault }, "could not read an OpenAPI document, and keeps what it knows of it");
    }
    await this.#screenAgain(entry);
  }

  /** Offers what may be offered by what is approved now. Where that cannot be read, what was offered before. */
  async #screenAgain(entry: Entry): Promise<void> {
    if (entry.hash === undefined) return;
    try {
      await this.#screen(entry);
      entry.isBlind = false;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error; // the store has logged it
      entry.isBlind = true;
    }
  }

  async #screen(entry: Entry): Promise<void> {
    const { pin, log } = this.#options;
    const { offered, held, newlyHeld } = await this.#book.screen(
      `${REST_PINS}${entry.from.name}`,
      entry.imported.map(({ seen }) => seen),
      pin,
    );
    const may = new Set(offered.map(({ name }) => name));
    entry.offered = entry.imported.flatMap(({ seen, operation }) => (may.has(seen.name) ? [operation] : []));
    entry.held = held;
    for (const { name, reason, suspicions } of newlyHeld.slice(0, 20))
      log.warn(
        { document: entry.from.name, operation: name, reason, suspicions },
        'holds an operation of an OpenAPI document until an operator runs "rockbot mcp approve"',
      );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#refreshing[Symbol.asyncDispose](), this.#following[Symbol.asyncDispose](), ...this.#pending]);
  }
}

const WHY: Readonly<Record<HeldTool["reason"], string>> = {
  new: "it has come since the document's operations were approved",
  changed: "what the document says of it has changed since it was approved",
  renamed: "it is an operation that was approved under another name",
  suspicious: "there is something to look at first",
};

function heldError(document: string, { name, reason, rejectedBy, suspicions = [] }: HeldTool): ToolError {
  const why = suspicions.length > 0 ? `it ${suspicions[0]}` : WHY[reason];
  return rejectedBy === undefined
    ? new ToolError(
        ToolErrorCode.Denied,
        `"${name}" of the OpenAPI document "${document}" is not called: ${why}. Nothing was sent. An operator has to approve it first: rockbot mcp approve ${JSON.stringify(`${REST_PINS}${document}`)} ${JSON.stringify(name)}. Tell your user, or do without it.`,
        { details: { mayHaveRun: false, reason: "not_approved" } },
      )
    : new ToolError(
        ToolErrorCode.Denied,
        `"${name}" of the OpenAPI document "${document}" is not called: an operator has refused it. Nothing was sent. Do without it.`,
        {
          details: { mayHaveRun: false, reason: "rejected" },
        },
      );
}
