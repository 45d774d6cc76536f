import { createHash } from "node:crypto";
import { canonicalJson } from "@rockbot/contracts";

/** A server's words on one tool, as models would get them. */
export interface SeenTool {
  readonly name: string;
  /** Pins of releases that dropped it are without: see `screenTools`. */
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
  readonly annotations: object;
  /** What code that knows more of it finds suspicious, each a sentence that goes on after "it". It is not pinned. */
  readonly concerns?: readonly string[] | undefined;
}

/** A definition that is approved. */
export interface Pin {
  readonly name: string;
  /** The hash of all that the server says of the tool: see `definitionHash`. */
  readonly hash: string;
  /** The same without its name: two tools of one shape differ in their names only. */
  readonly shape: string;
  /** Absent if there was no room for it; it serves to say what has changed. */
  readonly definition?: SeenTool | undefined;
  /** `FIRST_SIGHT`, or who approved it. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Who has approved a definition that was taken as it was first seen: nobody. */
export const FIRST_SIGHT = "first sight";

/** Why a definition waits for an operator. */
export type HeldReason = "new" | "changed" | "renamed" | "suspicious";

/** A definition that is neither announced nor called until an operator approves it. */
export interface HeldTool {
  readonly name: string;
  readonly hash: string;
  readonly shape: string;
  readonly definition?: SeenTool | undefined;
  readonly reason: HeldReason;
  /** The pinned tool that it was, as far as that is known. */
  readonly renamedFrom?: string | undefined;
  /** The parts of it that look as if they were written to mislead a model. */
  readonly suspicions?: readonly string[] | undefined;
  readonly at: string;
  /** The operator who has refused it: it waits no more, until it changes or is approved after all. */
  readonly rejectedBy?: string | undefined;
  /** Why, in that operator's words. */
  readonly note?: string | undefined;
}

/** The memory of one server's tools. Lists, not maps: their names are a stranger's. */
export interface PinRecord {
  readonly server: string;
  readonly pins: readonly Pin[];
  readonly held: readonly HeldTool[];
}

/** SHA-256 of the definition's canonical form: the same for definitions that differ in the order of properties only. */
export const definitionHash = (tool: SeenTool): string => hashesOf(tool).hash;

export const shapeOf = (tool: SeenTool): string => hashesOf(tool).shape;

/** Definitions do not change, and are looked at often. */
const known = new WeakMap<SeenTool, { readonly hash: string; readonly shape: string }>();

function hashesOf(tool: SeenTool): { readonly hash: string; readonly shape: string } {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const shape = { title, description, inputSchema, outputSchema, annotations };
  const hashes = { hash: sha256({ name, ...shape }), shape: sha256(shape) };
  known.set(tool, hashes);
  return hashes;
}

const sha256 = (value: object): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

/** The record that pins of a server are kept in. */
export const pinRecordName = (server: string): string => `${PIN_RECORDS}${server.toLowerCase()}`;
export const PIN_RECORDS = "pins/";
/** How the names begin under which operations of OpenAPI documents are pinned. No MCP server has such a name. */
export const REST_PINS = "rest:";
/** The same for the cards of A2A agents. */
export const A2A_PINS = "a2a:";
/** True if what is pinned under this name is no MCP server's. Case does not matter. */
export const isOthersPin = (server: string): boolean =>
  [REST_PINS, A2A_PINS].some((prefix) => server.toLowerCase().startsWith(prefix));
