import { isRecord } from "@rockbot/base";
import { parseJson, valueAt } from "@rockbot/contracts";
import { cleanText } from "@rockbot/mcp/schema";
import { upgrade } from "@scalar/openapi-upgrader";
import { parse } from "yaml";

export type Json = Readonly<Record<string, unknown>>;

/** An OpenAPI document in the form of 3.1, whichever it was written in. Nothing outside of it is looked up. */
export interface OpenApiDocument {
  readonly root: Json;
  /** True if an object of it has a key twice, so that only the last counts. YAML with such a key is refused. */
  readonly hasKeyTwice: boolean;
  /**
   * What stands there, or where a reference within the document leads.
   * @throws {RangeError} if it leads out of it, nowhere, or in a circle
   */
  resolve(value: unknown): Json;
}

const MAX_ALIASES = 1_000;
const MAX_REFERENCES = 20;

/** Reads JSON or YAML. @throws {SyntaxError} that says why it is no OpenAPI document */
export function readOpenApiDocument(marked: string): OpenApiDocument {
  const text = marked.replace(/^\ufeff/, "");
  const isJson = /^\s*\{/.test(text);
  let value: unknown;
  try {
    value = isJson ? JSON.parse(text) : parse(text, { maxAliasCount: MAX_ALIASES, logLevel: "error" });
  } catch (error) {
    // The first line says what and where; those after it show the place.
    const [why = ""] = error instanceof Error ? error.message.split("\n") : [];
    throw new SyntaxError(`it is neither JSON nor YAML: ${cleanText(why, 200)}`);
  }
  if (!isRecord(value)) throw new SyntaxError("it is not an object");
  if (!isRecord(value["paths"])) throw new SyntaxError('it has no "paths"');
  const version = value["openapi"] ?? value["swagger"];
  if (typeof version !== "string" || !/^(?:2\.0|3\.[0-2])/.test(version))
    throw new SyntaxError('it does not say in "openapi" that it is of a version from 3.0 to 3.2');
  const strict = isJson ? parseJson(text) : undefined;
  const root = upgrade(value, "3.1") as Json;
  return {
    root,
    hasKeyTwice: strict?.ok === false && strict.fault.reason === "duplicate_key",
    resolve(given) {
      let at = given;
      for (let steps = 0; isRecord(at) && typeof at["$ref"] === "string"; steps++) {
        if (steps > MAX_REFERENCES) throw new RangeError("its references lead in a circle");
        at = referred(root, at["$ref"]);
      }
      return isRecord(at) ? at : {};
    },
  };
}

/** What a reference within the document leads to. @throws {RangeError} */
export function referred(root: Json, reference: string): unknown {
  if (!reference.startsWith("#/"))
    throw new RangeError(
      `it refers to "${reference.slice(0, 100)}", and only references within the document are followed`,
    );
  const found = valueAt(root, decoded(reference.slice(1)));
  if (found === undefined) throw new RangeError(`there is no "${reference.slice(0, 100)}", to which it refers`);
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
