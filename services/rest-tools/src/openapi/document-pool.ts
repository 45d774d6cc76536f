import { createHash } from "node:crypto";
import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";
import { type HeldTool, PinBook, type PinMode, REST_PINS, type TrustStore } from "@rockbot/mcp/trust";
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
  from: DocumentImport;
  /** Of the last document that could be read, with what the file says of it. */
  hash: string | undefined;
  imported: readonly ImportedOperation[];
  offered: readonly RestOperation[];
  held: readonly HeldTool[];
  fault: string | undefined;
}

const LOOK_EVERY_MS = 1_000;

/**
 * The operations of all imported documents. Each document is read again from time to time. One that cannot be read leaves the operations of before;
 * one that has changed is held back, operation by operation, until an operator approves.
 */
export class DocumentPool implements AsyncDisposable {
  readonly #options: DocumentPoolOptions;
  readonly #book: PinBook;
  readonly #entries = new Map<string, Entry>();
  readonly #stop = new AbortController();
  readonly #refreshing: AsyncDisposable;
  readonly #following: AsyncDisposable;
  #revision: string | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(options: DocumentPoolOptions) {
    this.#options = options;
    this.#book = new PinBook({ store: options.store, filed: options.filed });
    this.#refreshing = startLoop(options.refreshMs, () => this.refresh());
    this.#following = startLoop(LOOK_EVERY_MS, () => this.#follow());
  }

  /** Goes by what the file says now. Resolves once each new document was read, or could not be. */
  async apply(imports: readonly DocumentImport[]): Promise<void> {
    const names = new Set(imports.map(({ name }) => name));
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#entries.delete(name);
    for (const from of imports) {
      const known = this.#entries.get(from.name);
      if (known === undefined) this.#entries.set(from.name, { from, hash: undefined, imported: [], offered: [], held: [], fault: undefined });
      else {
        known.from = from;
        known.hash = undefined;
      }
    }
    await this.refresh();
  }

  /** Reads all documents again, one after the other. */
  refresh(): Promise<void> {
    this.#working = this.#working.then(async () => {
      for (const entry of this.#entries.values()) await this.#read(entry);
      this.#options.onChange();
    });
    return this.#working;
  }

  get operations(): readonly RestOperation[] {
    return [...this.#entries.values()].flatMap(({ offered }) => offered);
  }

  /** Documents of which nothing could be read yet, and why. */
  get faults(): readonly { readonly name: string; readonly why: string }[] {
    return [...this.#entries.values()].flatMap(({ from: { name }, fault }) => (fault === undefined ? [] : [{ name, why: fault }]));
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
      const { text, at } = await fetchDocument(from, fetch, this.#stop.signal);
      const hash = createHash("sha256").update(text).digest("hex");
      if (hash !== entry.hash) {
        const { operations, leftOut } = importOperations(readOpenApiDocument(text), from, at);
        entry.imported = operations;
        entry.hash = hash;
        log.info({ document: from.name, operations: operations.length, leftOut: leftOut.slice(0, 20) }, "read an OpenAPI document");
      }
      await this.#screen(entry);
      entry.fault = undefined;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const why = error instanceof StoreUnavailableError ? "which of its operations are approved cannot be read" : (error as Error).message;
      entry.fault = why;
      log.warn({ document: from.name, reason: why }, "could not read an OpenAPI document, and keeps what it knows of it");
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

  /** What operators, or other instances, have decided since. */
  async #follow(): Promise<void> {
    try {
      const revision = await this.#options.store.revision();
      if (revision === this.#revision) return;
      const isFirst = this.#revision === undefined;
      this.#revision = revision;
      if (isFirst) return;
      this.#working = this.#working.then(async () => {
        for (const entry of this.#entries.values()) if (entry.hash !== undefined) await this.#screen(entry);
        this.#revision = await this.#options.store.revision();
        this.#options.onChange();
      });
      await this.#working;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error; // the store has logged it
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#refreshing[Symbol.asyncDispose](), this.#following[Symbol.asyncDispose](), this.#working]);
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
