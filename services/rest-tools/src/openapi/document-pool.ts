import type { Logger } from "@rockbot/bus";
import { definedBy, type ToolError } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";
import {
  type HeldTool,
  heldError,
  type PinMode,
  PinnedSources,
  REST_PINS,
  type SourceState,
  type Trust,
  whyHeld,
} from "@rockbot/trust";
import type { RestOperation } from "../rest-operation.ts";
import type { DocumentImport } from "./document-import.ts";
import { fetchDocument } from "./fetch-document.ts";
import { type ImportedOperations, importOperations } from "./import-operations.ts";
import { readOpenApiDocument } from "./open-api-document.ts";

export interface DocumentPoolOptions {
  readonly fetch: PublicFetch;
  readonly trust: Trust;
  readonly pin: PinMode;
  readonly refreshMs: number;
  readonly onChange: () => void;
  readonly log: Logger;
}

/**
 * The operations of all imported documents. Each document is read again from time to time. One that cannot be read
 * leaves the operations of before; one that has changed is held back, operation by operation, until an operator
 * approves.
 */
export class DocumentPool implements AsyncDisposable {
  readonly #sources: PinnedSources<DocumentImport, ImportedOperations>;
  readonly #known = new WeakMap<RestOperation, RestOperation>();

  constructor({ fetch, onChange, log, ...options }: DocumentPoolOptions) {
    this.#sources = new PinnedSources({
      ...options,
      prefix: REST_PINS,
      onChange,
      read: async (from, signal) => {
        const { text, at } = await fetchDocument(from, fetch, signal);
        return { text, parse: () => importOperations(readOpenApiDocument(text), from, at) };
      },
      partsOf: ({ operations }) => operations.map(({ seen }) => seen),
      onRead: ({ name }, { operations, leftOut }) =>
        log.info(
          { document: name, operations: operations.length, leftOut: leftOut.slice(0, 20) },
          "read an OpenAPI document",
        ),
      onFault: ({ name }, reason) =>
        log.warn({ document: name, reason }, "could not read an OpenAPI document, and keeps what it knows of it"),
      onHeld: (from, { name, reason, suspicions }) =>
        log.warn(
          { document: from.name, operation: name, reason, suspicions },
          'holds an operation of an OpenAPI document until an operator runs "rockbot mcp approve"',
        ),
      onError: ({ name }, error) => log.error({ document: name, error }, "could not work on an OpenAPI document"),
    });
  }

  /** Goes by what the file says now. Resolves once each document was read, or could not be. */
  apply(imports: readonly DocumentImport[]): Promise<void> {
    return this.#sources.apply(imports);
  }

  get operations(): readonly RestOperation[] {
    return this.#sources.all.flatMap(({ from, content, offered, approved }) =>
      (content?.operations ?? []).flatMap(({ seen, operation }) =>
        offered.has(seen.name) ? [this.#labelled(from.name, operation, approved.has(seen.name))] : [],
      ),
    );
  }

  /** One object for an operation for as long as neither it nor its approval changes. */
  #labelled(document: string, operation: RestOperation, isApproved: boolean): RestOperation {
    const known = this.#known.get(operation);
    const trust = definedBy(`${REST_PINS}${document}`, isApproved);
    if (known?.trust?.isApproved === trust.isApproved && known !== undefined) return known;
    const labelled = { ...operation, trust };
    this.#known.set(operation, labelled);
    return labelled;
  }

  /** Documents that could not be read the last time, or not yet, and why. */
  get faults(): readonly { readonly name: string; readonly why: string }[] {
    return this.#sources.faults(BLIND);
  }

  /** How each document stands, for operators. */
  get states(): readonly SourceState[] {
    return this.#sources.states("openapi", BLIND);
  }

  /** The operations that wait for an operator, by the names that their tools would have. */
  get held(): readonly { readonly toolName: string; readonly error: ToolError; readonly isRejected: boolean }[] {
    return this.#sources.all.flatMap(({ from, content, held }) => {
      const byName = new Map((content?.operations ?? []).map((each) => [each.seen.name, each.operation.toolName]));
      return held.flatMap((each) => {
        const toolName = byName.get(each.name);
        return toolName === undefined
          ? []
          : [{ toolName, error: heldOperation(from.name, each), isRejected: each.rejectedBy !== undefined }];
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sources[Symbol.asyncDispose]();
  }
}

const BLIND = "which of its operations are approved cannot be read";

const heldOperation = (document: string, held: HeldTool): ToolError =>
  heldError(held, {
    what: `"${held.name}" of the OpenAPI document "${document}"`,
    why: whyHeld(held),
    refused: "it",
    undone: "Nothing was sent.",
  });
