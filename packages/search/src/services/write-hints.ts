import { visibleText } from "@rockbot/contracts";
import type { ServiceHit } from "./service-hit.ts";

/** Lines for a model's prompt, for the place behind the part that stays the same: our own words. */
export interface Hints {
  readonly text: string;
}

const HEADING = "Potentially relevant services for this request";
const MAX_SUMMARY = 200;
const MAX_NAME = 80;

/** The hits as lines for a model. Undefined without any. @param canSearch whether it can search for more */
export const writeHints = (hits: readonly ServiceHit[], canSearch = true): Hints | undefined =>
  hits.length === 0
    ? undefined
    : {
        text: [
          `${HEADING}${canSearch ? " (call search_known_services for full search)" : ""}:`,
          ...hits.map(lineOf),
        ].join("\n"),
      };

function lineOf({ entry: { id, type, summary, tools, skills, trust }, top }: ServiceHit): string {
  const kind = skills === undefined ? "tools" : "skills";
  const names = top.map((name) => oneLine(name, MAX_NAME)).join(", ");
  const own = [oneLine(summary, MAX_SUMMARY).replace(/\.$/, ""), names === "" ? "" : `top ${kind}: ${names}`];
  const parts = trust == null ? own : [`${kind}: ${(skills ?? tools).length}`];
  return `- ${oneLine(id, MAX_NAME)} (${type}): ${parts.filter((part) => part !== "").join(", ")}`;
}

/** In one line, so that it cannot look like another line. */
function oneLine(text: string, max: number): string {
  const line = visibleText(text).replaceAll(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1).trimEnd()}…` : line;
}
