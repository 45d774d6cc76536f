import { code, fillPage, table } from "../fill-page.ts";
import { logEvents } from "../source/log-events.ts";
import type { Source } from "../source/sources.ts";
import { readCatalogue } from "./catalogue.ts";

/** `docs/reference/log-events.md`: every line that an operator may meet, and what to do. */
export async function logEventsReference(sources: readonly Source[]): Promise<string> {
  const events = logEvents(sources).toSorted((a, b) => (a.text.toLowerCase() < b.text.toLowerCase() ? -1 : 1));
  const of = (level: string) => events.filter((event) => event.level === level);
  const texts = (levels: readonly string[]) => levels.flatMap((level) => of(level).map(({ text }) => text));
  const remedies = await readCatalogue<string>("log-events", texts(["error", "warn"]), texts(["info"]));
  const rows = (level: string) =>
    table(
      ["line", "from", "fields", "what to do"],
      of(level).map(({ text, from, fields }) => [text, from, fields.map(code).join(" "), remedies[text] ?? "Nothing."]),
    );
  return fillPage("log-events", "the calls of log in packages and services", {
    error: rows("error"),
    warn: rows("warn"),
    info: rows("info"),
  });
}
