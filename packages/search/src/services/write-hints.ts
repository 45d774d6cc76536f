import { visibleText } from "@rockbot/contracts";
import type { ServiceHit } from "./service-hit.ts";

/** Lines for a model's prompt, for the place behind the part that stays the same. */
export interface Hints {
  readonly text: string;
  /** Whether it has a stranger's words, so that it must be fenced. */
  readonly isUntrusted: boolean;
}

const HEADING = "Potentially relevant services for this request (call search_known_services for full search):";
const MAX_SUMMARY = 200;
const MAX_NAME = 80;

/** The hits as lines for a model. Undefined without any. */
export function writeHints(hits: readonly ServiceHit[]): Hints | undefined {
  if (hits.length === 0) return undefined;
  return { text: [HEADING, ...hits.map(lineOf)].join("\n"), isUntrusted: hits.some(({ entry }) => entry.isUntrusted) };
}

function lineOf({ entry, top }: ServiceHit): string {
  const names = top.map((name) => oneLine(name, MAX_NAME)).join(", ");
  const kind = entry.type === "a2a" ? "skills" : "tools";
  const parts = [oneLine(entry.summary, MAX_SUMMARY).replace(/\.$/, ""), names === "" ? "" : `top ${kind}: ${names}`];
  return `- ${oneLine(entry.id, MAX_NAME)} (${entry.type}): ${parts.filter((part) => part !== "").join(", ")}`;
}

/** A stranger's text in one line, so that it cannot look like another line. */
function oneLine(text: string, max: number): string {
  const line = visibleText(text).replaceAll(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1).trimEnd()}…` : line;
}
