import { createHash } from "node:crypto";
import { canonicalJson } from "@rockbot/contracts";
import { hashedGrant } from "../../records/grant.ts";
import type { KeptWisp } from "./kept-wisp.ts";

/** The hash of all that decides what a saved wisp does. An approval is of one such hash. */
export function wispHash({
  name,
  definition,
  inputSchema,
  maker,
  isUntrusted,
  grant,
}: Pick<KeptWisp, "name" | "definition" | "inputSchema" | "maker" | "isUntrusted" | "grant">): string {
  return createHash("sha256")
    .update(canonicalJson({ name, definition, inputSchema, maker, isUntrusted, grant: hashedGrant(grant) }))
    .digest("hex");
}
