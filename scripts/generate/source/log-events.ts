import { possibleTexts } from "./possible-texts.ts";
import { callsOf, nameOf, propertiesOf, type Source } from "./sources.ts";
import type { Node } from "./syntax.ts";

export interface LogEvent {
  /** What the line says; `{…}` stands for a part that varies. */
  readonly text: string;
  readonly level: string;
  /** Names of what stands beside the text. */
  readonly fields: readonly string[];
  /** The package or service whose code writes it. */
  readonly from: string;
}

/** A field of the name that every line has is written as `event_NAME`: see create-log.ts. */
const shownName = (name: string): string =>
  ["level", "time", "service", "version", "msg"].includes(name) ? `event_${name}` : name;

const LEVELS: ReadonlySet<string> = new Set(["error", "warn", "info"]);

/**
 * Every line above `debug` that the code can write to its log: each call of `log.LEVEL(fields, text)`, also through a
 * function of the same file.
 * @throws {Error} naming the calls whose text does not stand in the sources
 */
export function logEvents(sources: readonly Source[]): readonly LogEvent[] {
  const events = new Map<string, LogEvent>();
  const hidden: string[] = [];
  for (const source of sources) {
    for (const { call, name, args } of callsOf(source, LEVELS)) {
      if (args.length !== 2 || !/log$/i.test(nameOf((call["callee"] as Node)["object"] as Node) ?? "")) continue;
      const texts = possibleTexts(args[1], source, sources);
      if (texts.length === 0)
        hidden.push(`${source.file}: a call of log.${name} whose text does not stand in this file`);
      for (const { text } of texts) {
        const key = `${name} ${text}`;
        const fields = [
          ...new Set([...(events.get(key)?.fields ?? []), ...[...propertiesOf(args[0]).keys()].map(shownName)]),
        ];
        events.set(key, { text, level: name, fields, from: source.file.split("/")[1] ?? "" });
      }
    }
  }
  if (hidden.length > 0) throw new Error(`Cannot generate the log's reference:\n${hidden.join("\n")}`);
  return [...events.values()];
}
