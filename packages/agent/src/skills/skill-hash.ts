import { createHash } from "node:crypto";
import { canonicalJson } from "@rockbot/contracts";
import { hashedGrant } from "../records/grant.ts";
import type { KeptSkill } from "./kept-skill.ts";

/** The hash of all that a model reads of a skill. An approval is of one such hash. */
export function skillHash({
  name,
  summary,
  tags,
  content,
  maker,
  isUntrusted,
  grant,
}: Pick<KeptSkill, "name" | "summary" | "tags" | "content" | "maker" | "isUntrusted" | "grant">): string {
  return createHash("sha256")
    .update(canonicalJson({ name, summary, tags, content, maker, isUntrusted, grant: hashedGrant(grant) }))
    .digest("hex");
}
