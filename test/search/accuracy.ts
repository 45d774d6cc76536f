import { allExtras, type Extras, noExtras, rank, type ServiceEntry, ServiceSearch } from "@rockbot/search";
import type { Question } from "./read-set.ts";

/** The shares of questions whose answer is the first hit, and one of the first five. */
export interface Accuracy {
  readonly top1: number;
  readonly top5: number;
}

/** Finds by a question: ids of services, or of tools as `service/tool`. */
export type Find = (question: string) => Promise<readonly string[]>;

export interface Rankers {
  readonly services: Find;
  readonly tools: Find;
}

/** As the textbook has it: one flat text for a service, or for a tool. */
function textbook(services: readonly ServiceEntry[]): Rankers {
  const flat = ({ id, summary, tools }: ServiceEntry): string =>
    [id, summary, ...tools.flatMap(({ name, description }) => [name, description])].join("\n");
  const tools = services.flatMap((entry) => entry.tools.map((tool) => ({ entry, tool })));
  return {
    services: async (question) =>
      rank(services, flat, question)
        .slice(0, 5)
        .map(({ id }) => id),
    tools: async (question) =>
      rank(
        tools,
        ({ entry, tool }) => [entry.id, entry.summary, tool.name, tool.description, tool.parameters].join("\n"),
        question,
      )
        .slice(0, 5)
        .map(({ entry, tool }) => `${entry.id}/${tool.name}`),
  };
}

function withExtras(services: readonly ServiceEntry[], extras: Partial<Extras>): Rankers {
  const search = new ServiceSearch(() => services, { extras });
  return {
    services: async (question) => (await search.search(question)).map(({ entry }) => entry.id),
    tools: async (question) =>
      (await search.searchTools(question)).map(({ entry, tool }) => `${entry.id}/${tool.name}`),
  };
}

/** The rankers of the table: the textbook, with each extra alone, all, and all but each. */
export function rankersOf(services: readonly ServiceEntry[]): Map<string, Rankers> {
  const extras = Object.keys(allExtras) as (keyof Extras)[];
  return new Map([
    ["textbook", textbook(services)],
    ["a document for each tool", withExtras(services, noExtras)],
    ...extras.map((extra): [string, Rankers] => [
      `and ${words[extra]}`,
      withExtras(services, { ...noExtras, [extra]: true }),
    ]),
    ["all", withExtras(services, {})],
    ...extras.map((extra): [string, Rankers] => [`all but ${words[extra]}`, withExtras(services, { [extra]: false })]),
  ]);
}

const words: Readonly<Record<keyof Extras, string>> = {
  unicode: "Unicode words",
  identifiers: "identifiers split",
  stopWords: "stop words",
  stems: "stems",
  synonyms: "synonyms",
  nearWords: "near words",
  fields: "field weights",
};

export async function accuracyOf(
  find: Find,
  questions: readonly Question[],
  answersOf: (question: Question) => readonly string[],
): Promise<Accuracy> {
  let [first, five] = [0, 0];
  for (const question of questions) {
    const found = await find(question.text);
    const place = found.findIndex((id) => answersOf(question).includes(id));
    if (place === 0) first++;
    if (place >= 0 && place < 5) five++;
  }
  return { top1: first / questions.length, top5: five / questions.length };
}

export const serviceAnswers = ({ answers }: Question): string[] =>
  answers.map((answer) => answer.slice(0, answer.indexOf("/")));
export const toolAnswers = ({ answers }: Question): readonly string[] => answers;
