import { isRecord } from "@rockbot/base";
import { definitionFault, nameOfDefinition } from "./definition-fault.ts";

/** An entry of a server's list that is not offered, with the reason. */
export interface LeftOut {
  /** The tool's name, as far as it has one. */
  readonly tool: string;
  readonly why: string;
}

/** Bounds a server whose list never ends. */
const MAX_PAGES = 64;
/** More would not be listed to a model anyway. */
const MAX_TOOLS = 2_000;
const MAX_TOLD = 200;

/** Parts of a definition whose fields may be missing. */
const PARTS = ["annotations", "execution", "inputSchema", "outputSchema"];
/** Of a schema, where null is a value. */
const VALUES: ReadonlySet<string> = new Set(["const", "default"]);

/**
 * Reads the pages of one list of tools before the SDK does, which would refuse the whole list for one definition. It takes out definitions that
 * cannot be used, and ends a list that is too long. The schemas of results stay here: the SDK would throw away a whole result that breaks its schema.
 */
export class Listing {
  readonly #leftOut: LeftOut[] = [];
  readonly #names = new Map<string, object | undefined>();
  readonly #cursors = new Set<string>();
  #pages = 0;
  #seen = 0;
  #isCut = false;

  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** The names that were handed on. */
  get names(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** The schema of the tool's results. */
  outputSchemaOf(tool: string): object | undefined {
    return this.#names.get(tool);
  }

  leaveOut(tool: string, why: string): void {
    if (this.#leftOut.length < MAX_TOLD) this.#leftOut.push({ tool, why });
    else if (this.#leftOut.length === MAX_TOLD) this.#leftOut.push({ tool: "further ones", why: "the reasons are too many to be told" });
  }

  /** One page, as the SDK may have it. */
  readPage(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const { tools, nextCursor, ...others } = result;
    if (!Array.isArray(tools)) return result;
    this.#pages++;
    const used = tools.map(withoutNulls).filter((definition: unknown) => this.#takes(definition));
    const page = { ...others, tools: used.map((definition) => ({ ...(definition as object), outputSchema: undefined })) };
    if (typeof nextCursor !== "string" || nextCursor === "" || this.#cursors.has(nextCursor)) return page;
    this.#cursors.add(nextCursor);
    if (this.#pages >= MAX_PAGES) this.#cut();
    return this.#isCut ? page : { ...page, nextCursor };
  }

  #cut(): void {
    if (!this.#isCut) this.leaveOut("the rest of the list", `more than ${MAX_PAGES} pages or ${MAX_TOOLS} tools are not read`);
    this.#isCut = true;
  }

  #takes(definition: unknown): boolean {
    const before = this.#names.size;
    const tool = nameOfDefinition(definition, ++this.#seen);
    const fault = definitionFault(definition);
    const { name, outputSchema } = (fault === undefined ? definition : {}) as { readonly name?: string; readonly outputSchema?: object };
    if (fault !== undefined) this.leaveOut(tool, fault);
    else if (name === undefined || this.#names.has(name)) this.leaveOut(tool, "a tool of its name is in the list already");
    else if (this.#names.size >= MAX_TOOLS) this.#cut();
    else this.#names.set(name, outputSchema);
    return before < this.#names.size;
  }
}

/** Without the nulls that servers in some languages write for a field that is not there. */
function withoutNulls(definition: unknown): unknown {
  if (!isRecord(definition)) return definition;
  const parts = PARTS.flatMap((part) => (isRecord(definition[part]) ? [[part, dropNulls(definition[part])]] : []));
  return { ...dropNulls(definition), ...Object.fromEntries(parts) };
}

const dropNulls = (record: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(record).filter(([key, value]) => value !== null || VALUES.has(key)));
