import { createHash } from "node:crypto";
import { canonicalJson } from "@rockbot/contracts";
import type { KeptWisp } from "./kept-wisp.ts";

/** The hash of all that decides what a saved wisp does. An approval is of one such hash. */
export function wispHash({
  name,
  definition,
  inputSchema,
  maker,
  isUntrusted,
}: Pick<KeptWisp, "name" | "definition" | "inputSchema" | "maker" | "isUntrusted">): string {
  return createHash("sha256").update(canonicalJson({ name, definition, inputSchema, maker, isUntrusted })).digest("hex");
}
