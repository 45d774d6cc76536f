import type { ToolGuide } from "@rockbot/contracts";
import type { Tool, ToolProvider } from "@rockbot/tools";
import type { DocumentPool } from "./openapi/document-pool.ts";
import type { RestOperation } from "./rest-operation.ts";
import { type RestToolParts, restTool } from "./rest-tool.ts";
import { restToolsGuide } from "./rest-tools-guide.ts";

/** The endpoints of the file and the operations of documents, as tools that come and go. */
export class RestToolProvider implements ToolProvider {
  readonly #parts: RestToolParts;
  readonly #documents: Pick<DocumentPool, "operations" | "held">;
  readonly #listeners = new Set<() => void>();
  /** One object for each tool for as long as it does not change. */
  readonly #made = new WeakMap<RestOperation, Tool>();
  #own: readonly RestOperation[] = [];
  #all: ReadonlyMap<string, Tool> | undefined;

  constructor(documents: Pick<DocumentPool, "operations" | "held">, parts: RestToolParts) {
    this.#documents = documents;
    this.#parts = parts;
  }

  get tools(): readonly Tool[] {
    return [...this.#byName().values()];
  }

  get guides(): readonly ToolGuide[] {
    return [restToolsGuide(this.#documents.held)];
  }

  /** @throws {ToolError} `denied` if it waits for an operator */
  find(toolName: string): Tool | undefined {
    const found = this.#byName().get(toolName.toLowerCase());
    const held =
      found === undefined
        ? this.#documents.held.find((each) => each.toolName.toLowerCase() === toolName.toLowerCase())
        : undefined;
    if (held !== undefined) throw held.error;
    return found;
  }

  /** Offers these endpoints of the file from now on. */
  apply(operations: readonly RestOperation[]): void {
    this.#own = operations;
    this.changed();
  }

  /** Something has changed in the file, or in a document. */
  changed(): void {
    this.#all = undefined;
    for (const listener of [...this.#listeners]) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The tools by names in small letters. The file comes first: a document takes no name of its. */
  #byName(): ReadonlyMap<string, Tool> {
    if (this.#all !== undefined) return this.#all;
    const all = new Map<string, Tool>();
    for (const operation of [...this.#own, ...this.#documents.operations]) {
      const key = operation.toolName.toLowerCase();
      if (all.has(key)) continue;
      const tool = this.#made.get(operation) ?? restTool(operation, this.#parts);
      this.#made.set(operation, tool);
      all.set(key, tool);
    }
    this.#all = all;
    return all;
  }
}
