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

/**
 * Reads the pages of one list of tools before the SDK does, which would refuse the whole list for one definition. It takes out definitions that
 * cannot be used, and ends a list that is too long.
 */
export class Listing {
  readonly #leftOut: LeftOut[] = [];
  readonly #names = new Set<string>();
  readonly #cursors = new Set<string>();
  #pages = 0;
  #seen = 0;
  #isCut = false;

  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** The names that were handed on. */
  get names(): ReadonlySet<string> {
    return this.#names;
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
    const used = tools.filter((definition: unknown) => this.#takes(definition));
    const page = { ...others, tools: used };
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
    const { name } = (fault === undefined ? definition : {}) as { readonly name?: string };
    if (fault !== undefined) this.leaveOut(tool, fault);
    else if (name === undefined || this.#names.has(name)) this.leaveOut(tool, "a tool of its name is in the list already");
    else if (this.#names.size >= MAX_TOOLS) this.#cut();
    else this.#names.add(name);
    return before < this.#names.size;
  }
}
