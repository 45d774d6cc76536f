import { createHash } from "node:crypto";
import { hashedGrant } from "@rockbot/agent/plugin";
import { canonicalJson } from "@rockbot/contracts";
import type { KeptWisp } from "../pipeline/kept-wisp.ts";

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
