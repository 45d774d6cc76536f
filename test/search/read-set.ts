import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServiceEntry } from "@rockbot/search";
import { parse } from "yaml";

/** A question, and the tools that answer it, as `service/tool`. */
export interface Question {
  readonly text: string;
  readonly answers: readonly string[];
}

export interface QuerySet {
  readonly services: readonly ServiceEntry[];
  /** The questions that the ranker was tuned with. */
  readonly tuning: readonly Question[];
  /** The questions that judge it. */
  readonly heldOut: readonly Question[];
}

/** The services and questions of this folder. @throws {Error} if a question names a tool that is not there */
export async function readSet(): Promise<QuerySet> {
  const read = (file: string): Promise<string> => readFile(join(import.meta.dirname, file), "utf8");
  const services = [...entriesIn(await read("services-1.yaml")), ...entriesIn(await read("services-2.yaml"))];
  const known = new Set(services.flatMap(({ id, tools }) => tools.map(({ name }) => `${id}/${name}`)));
  const questions = (await read("queries.txt"))
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line): Question => {
      const [answers = "", ...text] = line.split("|");
      return { text: text.join("|").trim(), answers: answers.split(",").map((answer) => answer.trim()) };
    });
  const unknown = questions.flatMap(({ answers }) => answers.filter((answer) => !known.has(answer)));
  if (unknown.length > 0) throw new Error(`Cannot read the questions: no service has the tools ${unknown.join(", ")}`);
  return {
    services,
    tuning: questions.filter((_, i) => i % 2 === 0),
    heldOut: questions.filter((_, i) => i % 2 === 1),
  };
}

function entriesIn(text: string): ServiceEntry[] {
  const services = parse(text) as Record<string, { summary: string; tools: Record<string, string> }>;
  return Object.entries(services).map(([id, { summary, tools }]) => ({
    id,
    type: "mcp",
    summary,
    tools: Object.entries(tools).map(([name, told]) => {
      const [description = "", parameters = ""] = told.split(" | ");
      return { name, description, parameters: parameters.replaceAll(/[,"]/g, "") };
    }),
    isUntrusted: true,
  }));
}
