import { rankWithScores } from "@rockbot/base/ranking";
import fc from "fast-check";
import { expect, test } from "vitest";
import { allExtras, type Extras, noExtras } from "../words/extras.ts";
import { type Fields, SearchIndex } from "./search-index.ts";

function indexOf(documents: Readonly<Record<string, Fields>>, extras?: Partial<Extras>): SearchIndex {
  const index = new SearchIndex(extras);
  for (const [key, fields] of Object.entries(documents)) index.set(key, fields);
  return index;
}

const first = (index: SearchIndex, query: string): string | undefined => index.search(query)[0]?.key;

interface Case {
  readonly documents: Readonly<Record<string, Fields>>;
  readonly query: string;
  /** The key that is first with the extra, and is not without it. */
  readonly best: string;
}

/** Documents and questions in which one extra alone makes the difference. */
const cases: readonly (readonly [keyof Extras, string, Case])[] = [
  [
    "unicode",
    "accents",
    {
      documents: { other: { name: "list_files" }, resume: { description: "Écrire un thème" } },
      query: "THEME",
      best: "resume",
    },
  ],
  [
    "unicode",
    "other scripts",
    {
      documents: { other: { name: "list_files" }, weather: { description: "今日の天気を調べる" } },
      query: "天気予報",
      best: "weather",
    },
  ],
  [
    "unicode",
    "Cyrillic",
    {
      documents: { other: { name: "list_files" }, mail: { description: "Отправить письмо" } },
      query: "письмо",
      best: "mail",
    },
  ],
  [
    "identifiers",
    "camel case",
    { documents: { other: { name: "list_files" }, issue: { name: "createIssue" } }, query: "issue", best: "issue" },
  ],
  [
    "identifiers",
    "digits",
    { documents: { other: { name: "list_files" }, oauth: { name: "oauth2token" } }, query: "token", best: "oauth" },
  ],
  [
    "identifiers",
    "joined words",
    { documents: { other: { name: "web_files" }, both: { name: "websearch" } }, query: "web search", best: "both" },
  ],
  [
    "stopWords",
    "words that only ask",
    {
      documents: {
        polite: { description: "please can you help me with what you want" },
        mail: { description: "send mail" },
      },
      query: "can you please help me send mail with what you want",
      best: "mail",
    },
  ],
  [
    "stems",
    "endings",
    {
      documents: { other: { name: "list_files" }, deploy: { description: "Simplifies fractions" } },
      query: "simplify",
      best: "deploy",
    },
  ],
  [
    "synonyms",
    "verbs of one meaning",
    {
      documents: { other: { name: "list_files" }, removal: { name: "delete_branch" } },
      query: "erase",
      best: "removal",
    },
  ],
  [
    "synonyms",
    "a kind",
    { documents: { other: { name: "list_files" }, money: { name: "currency_rate" } }, query: "euros", best: "money" },
  ],
  [
    "nearWords",
    "a slip",
    {
      documents: { other: { name: "list_files" }, cluster: { name: "kubernetes_apply" } },
      query: "kuberentes",
      best: "cluster",
    },
  ],
  [
    "nearWords",
    "the beginning of a name",
    {
      documents: { other: { name: "list_files" }, index: { name: "elasticsearch_indices" } },
      query: "elastic",
      best: "index",
    },
  ],
  [
    "nearWords",
    "one word for two",
    {
      documents: { other: { name: "list_files" }, board: { name: "white_board" } },
      query: "whiteboard",
      best: "board",
    },
  ],
  [
    "fields",
    "a name before a description",
    {
      documents: {
        talk: { name: "post", description: "notes about a deploy" },
        deploy: { name: "deploy", description: "Brings a build to the machines that serve it" },
      },
      query: "deploy",
      best: "deploy",
    },
  ],
];

test.each(cases)("%s: %s", (extra, _, { documents, query, best }) => {
  expect(first(indexOf(documents), query)).toBe(best);
  expect(first(indexOf(documents, { ...noExtras, [extra]: true }), query)).toBe(best);
  const without = first(
    indexOf(documents, {
      ...allExtras,
      stopWords: extra === "stopWords" ? false : allExtras.stopWords,
      [extra]: false,
    }),
    query,
  );
  expect(without).not.toBe(best);
});

test("a word finds its synonyms after itself", () => {
  const index = indexOf({
    erase: { name: "erase_disk" },
    remove: { name: "remove_disk" },
    other: { name: "list_disk" },
  });
  expect(index.search("remove").map(({ key }) => key)).toEqual(["remove", "erase"]);
});

test("abbreviations of two words find both, and both find them", () => {
  const index = indexOf({
    pull: { name: "merge_pull_request" },
    other: { name: "list_files" },
    short: { name: "mergePR" },
  });
  expect(index.search("pr").map(({ key }) => key)).toContain("pull");
  expect(index.search("pull request").map(({ key }) => key)).toContain("short");
});

test("documents come, change and go", () => {
  const index = indexOf({ a: { description: "send mail" } });
  index.set("b", { description: "read mail" });
  index.set("a", { description: "open doors" });
  expect(index.search("mail").map(({ key }) => key)).toEqual(["b"]);
  expect(index.delete("b")).toBe(true);
  expect(index.delete("b")).toBe(false);
  expect(index.search("mail")).toEqual([]);
  expect(index.size).toBe(1);
});

test("no text makes it fail: nothing, controls, half a surrogate, one word of a megabyte, names of Object", () => {
  const index = indexOf({
    constructor: { name: "constructor __proto__ toString" },
    long: { description: "x".repeat(1_000_000) },
  });
  for (const query of ["", "   ", "\u0000\ud800", "y".repeat(1_000_000), "constructor", "__proto__ hasOwnProperty"])
    expect(() => index.search(query)).not.toThrow();
  expect(first(index, "toString")).toBe("constructor");
});

const WORDS = ["create", "issue", "send", "message", "calendar", "query", "database", "deploy"];
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }).map((words) => words.join(" "));
const texts = fc.array(text, { minLength: 1, maxLength: 12 });

test("the index scores as the textbook with no extras, whatever came and went before", () => {
  fc.assert(
    fc.property(texts, texts, text, (candidates, earlier, query) => {
      const index = new SearchIndex(noExtras);
      for (const [i, description] of earlier.entries()) index.set(`${i % 2 === 0 ? "gone " : ""}${i}`, { description });
      for (const [i] of earlier.entries()) index.delete(`${i % 2 === 0 ? "gone " : ""}${i}`);
      for (const [i, description] of candidates.entries()) index.set(String(i), { description });
      const textbook = new Map(
        rankWithScores([...candidates.keys()], (i) => candidates[i] ?? "", query).map(({ item, score }) => [
          item,
          score,
        ]),
      );
      const scores = new Map(index.search(query).map(({ key, score }) => [key, score]));
      for (const i of candidates.keys()) expect(scores.get(String(i)) ?? 0).toBeCloseTo(textbook.get(i) ?? 0, 9);
    }),
  );
});
