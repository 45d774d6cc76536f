import type { Tool } from "@modelcontextprotocol/client";
import { isRecord } from "@rockbot/base";
import { definitionFault, nameOfDefinition } from "./definition-fault.ts";

/** An entry of a server's list that is not offered, with the reason. */
export interface LeftOut {
  /** The tool's name, as far as it has one. */
  readonly tool: string;
  readonly why: string;
}

/** More would not be listed to a model anyway. */
const MAX_TOOLS = 2_000;
/** Bound a server whose list never ends: nothing of it is offered before. Some list one tool a page. */
const MAX_PAGES = 128;
const MAX_MS = 10_000;
const MAX_TOLD = 200;

/** Parts of a definition whose fields may be missing. */
const PARTS = ["annotations", "execution", "inputSchema", "outputSchema"];
/** Keywords of a schema whose null is a value. */
const VALUES: ReadonlySet<string> = new Set(["const", "default"]);

/**
 * Reads the pages of one list of tools before the SDK does, which would refuse the whole list for one definition. It
 * takes out definitions that cannot be used, and ends a list that is too long. The SDK gets names and schemas of
 * arguments only. The rest stays here: the protocol's eras differ in what it may be, and the SDK would throw away a
 * whole result that breaks its schema.
 */
export class Listing {
  readonly #leftOut: LeftOut[] = [];
  readonly #used = new Map<string, Tool>();
  readonly #cursors = new Set<string>();
  readonly #since = performance.now();
  #pages = 0;
  #seen = 0;
  #isCut = false;

  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** The definitions whose names were handed on. */
  get used(): readonly Tool[] {
    return [...this.#used.values()];
  }

  leaveOut(tool: string, why: string): void {
    if (this.#leftOut.length < MAX_TOLD) this.#leftOut.push({ tool, why });
    else if (this.#leftOut.length === MAX_TOLD)
      this.#leftOut.push({ tool: "further ones", why: "there are too many reasons to list" });
  }

  /** One page, as the SDK may have it. */
  readPage(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const { tools, nextCursor, ...others } = result;
    if (!Array.isArray(tools)) return result;
    this.#pages++;
    const used = tools.map(usableParts).filter((definition: unknown) => this.#takes(definition)) as Tool[];
    const page = {
      ...others,
      tools: used.map(({ name, inputSchema }) => ({ name, inputSchema: { ...inputSchema, $schema: undefined } })),
    };
    if (typeof nextCursor !== "string" || nextCursor === "" || this.#cursors.has(nextCursor)) return page;
    this.#cursors.add(nextCursor);
    if (this.#pages >= MAX_PAGES || performance.now() - this.#since > MAX_MS) this.#cut();
    return this.#isCut ? page : { ...page, nextCursor };
  }

  #cut(): void {
    if (!this.#isCut)
      this.leaveOut(
        "the rest of the list",
        `it is longer than the limit: ${MAX_TOOLS} tools, ${MAX_PAGES} pages, ${MAX_MS / 1_000} seconds`,
      );
    this.#isCut = true;
  }

  #takes(definition: unknown): boolean {
    const before = this.#used.size;
    const shown = nameOfDefinition(definition, ++this.#seen);
    const fault = definitionFault(definition);
    if (fault !== undefined) this.leaveOut(shown, fault);
    else if (this.#used.has((definition as Tool).name))
      this.leaveOut(shown, "a tool of its name is in the list already");
    else if (this.#used.size >= MAX_TOOLS) this.#cut();
    else this.#used.set((definition as Tool).name, definition as Tool);
    return before < this.#used.size;
  }
}

/**
 * Without the nulls that servers in some languages write for a field that is not there, and without a schema of results
 * that is no object. Such a schema promises nothing, and the tool works without it.
 */
function usableParts(definition: unknown): unknown {
  if (!isRecord(definition)) return definition;
  const { outputSchema, ...others } = definition;
  const given = { ...others, ...(isRecord(outputSchema) ? { outputSchema } : {}) };
  const parts = PARTS.flatMap((part) => (isRecord(definition[part]) ? [[part, dropNulls(definition[part])]] : []));
  return { ...dropNulls(given), ...Object.fromEntries(parts) };
}

const dropNulls = (record: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(record).filter(([key, value]) => value !== null || VALUES.has(key)));
