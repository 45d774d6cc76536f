import { possibleTexts } from "./possible-texts.ts";
import { callsOf, nodesIn, type Source, textOf } from "./sources.ts";

/** A text that a model can get. */
export interface ModelText {
  /** The package or service that says it. */
  readonly part: string;
  /** `{…}` stands for each part that varies. */
  readonly text: string;
}

/**
 * What gives a model a text of its own, beside the descriptions and guides of tools: errors of calls, and the agent's
 * words around a conversation.
 */
const ERRORS: ReadonlySet<string> = new Set(["ToolError", "timeoutError"]);
const PROMPTS = /^packages\/agent\/src\/(prompt\/(?!ask-model)|turn\/notes|session-tools|store\/interrupted)/;

/** What a program has and a model has not. The gateway's clients and the command line are programs. */
const NO_MODELS = /Idempotency-Key|toolCallId|must NOT |\bajv\b/;
const FOR_PROGRAMS: ReadonlySet<string> = new Set(["services/gateway", "packages/cli"]);

/**
 * The texts of errors and of the agent's own words, as far as they stand in the sources: by part, each once, sorted.
 * @throws {Error} naming the texts that speak of what a model does not have
 */
export function modelTexts(sources: readonly Source[]): readonly ModelText[] {
  const found = new Map<string, Set<string>>();
  for (const source of sources) {
    const part = source.file.split("/").slice(0, 2).join("/");
    const known = found.get(part) ?? new Set();
    for (const text of [...errorTexts(source, sources), ...promptTexts(source)])
      if (/\p{L}{2}.*\p{L}{2} /u.test(text)) known.add(text);
    if (known.size > 0) found.set(part, known);
  }
  const all = [...found].flatMap(([part, texts]) => [...texts].sort().map((text) => ({ part, text })));
  const wrong = all.filter(({ part, text }) => NO_MODELS.test(text) && !FOR_PROGRAMS.has(part));
  if (wrong.length > 0)
    throw new Error(
      `Cannot list texts for models: they name what no model has:\n${wrong.map(({ part, text }) => `${part}: ${text}`).join("\n")}`,
    );
  return all;
}

function errorTexts(source: Source, sources: readonly Source[]): string[] {
  return callsOf(source, ERRORS).flatMap(({ name, args }) => {
    const said = args[name === "ToolError" ? 1 : 0];
    const whole = possibleTexts(said, source, sources).map(({ text }) => text);
    return whole.length > 0 || said === undefined ? whole : nodesIn(said).flatMap((node) => textOf(node) ?? []);
  });
}

const promptTexts = ({ file, program }: Source): string[] =>
  PROMPTS.test(file) ? nodesIn(program).flatMap((node) => textOf(node) ?? []) : [];
