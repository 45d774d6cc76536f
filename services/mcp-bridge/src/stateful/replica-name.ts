import { hostname } from "node:os";
import { newId } from "@rockbot/contracts";

const MAX_HOST = 40;

/**
 * A name for this process that is a part of topics, no other process's, and tells people where it runs. For a long host
 * name its end counts, as pods differ there.
 */
export function replicaName(host: string = hostname()): string {
  const where = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(-MAX_HOST)
    .replace(/^-|-$/g, "");
  return [where, newId().slice(0, 12)].filter(Boolean).join("-");
}
