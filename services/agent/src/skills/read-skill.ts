import { visibleText } from "@rockbot/contracts";
import { parse } from "yaml";

/** What a skill says of itself, and what is wrong with it, in words. */
export interface ReadSkill {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly faults: string[];
}

const bounds = { nameChars: 100, contentChars: 32_768, summaryChars: 200, tags: 20, tagChars: 64 } as const;

const NAME = /^[a-zA-Z0-9_-]+(?:\/[a-zA-Z0-9_-]+)*$/;

/** The fault of a skill's name, in words; undefined if it may have it. */
export function skillNameFault(name: string): string | undefined {
  if (name.length <= bounds.nameChars && NAME.test(name)) return undefined;
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
  return `name: ${shown} is not a valid name. Use at most ${bounds.nameChars} characters: words of letters, digits, - and _, with / between them, such as "office/weekly-report"`;
}

/** Reads the markdown of a skill: what its front matter says, or else its first line. */
export function readSkill(name: string, content: string): ReadSkill {
  const { attributes, body, faults } = frontMatter(content.replace(/^\ufeff/, "").replaceAll("\r\n", "\n"));
  const { description, name: ownName, tags = [] } = attributes;
  const listed = typeof tags === "string" ? tags.split(",").map((tag) => tag.trim()) : tags;
  const isTags = Array.isArray(listed) && listed.every(isTag);
  const said = typeof description === "string" ? description : firstLine(body);
  const found = [
    skillNameFault(name),
    content.length > bounds.contentChars
      ? `content: expected at most ${bounds.contentChars} characters, got ${content.length}`
      : undefined,
    visibleText(body).trim() === "" ? "content: is blank. Say how the thing is done" : undefined,
    ...faults,
    description === undefined || (typeof description === "string" && inALine(description) !== "")
      ? undefined
      : "content: description is no text. Write it in a line",
    ownName === undefined || ownName === name
      ? undefined
      : `content: name is ${JSON.stringify(ownName)}, and the skill is to be called ${JSON.stringify(name)}. Leave it out`,
    isTags
      ? undefined
      : `content: tags are no list of lines of 1 to ${bounds.tagChars} visible characters, such as [mail, office]`,
    isTags && listed.length > bounds.tags
      ? `content: expected at most ${bounds.tags} tags, got ${listed.length}`
      : undefined,
  ];
  return {
    summary: inALine(said),
    tags: isTags ? (listed as string[]) : [],
    faults: found.filter((fault) => fault !== undefined),
  };
}

/** It is shown to models and people, also by itself. */
const isTag = (tag: unknown): boolean =>
  typeof tag === "string" &&
  tag.length <= bounds.tagChars &&
  tag.trim() !== "" &&
  !tag.includes("\n") &&
  visibleText(tag) === tag;

type FrontMatter = {
  readonly faults: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly body: string;
};

function frontMatter(content: string): FrontMatter {
  const [whole, yaml] = /^---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|$)/s.exec(content) ?? [];
  if (whole === undefined) {
    const faults = /^---[ \t]*\n/.test(content)
      ? ['content: its front matter does not end. Write a line "---" after it']
      : [];
    return { attributes: {}, body: content, faults };
  }
  const body = content.slice(whole.length);
  try {
    const value: unknown = parse(yaml ?? "", { prettyErrors: false, maxAliasCount: 0, logLevel: "error" }) ?? {};
    if (typeof value === "object" && !Array.isArray(value))
      return { attributes: value as Readonly<Record<string, unknown>>, body, faults: [] };
    return {
      attributes: {},
      body,
      faults: ['content: its front matter has no keys. Write lines such as "description: Writes the weekly report."'],
    };
  } catch (error) {
    return {
      attributes: {},
      body,
      faults: [`content: its front matter is not YAML: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
}

const firstLine = (body: string): string =>
  body
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.replace(/^#+\s*/, "") ?? "";

function inALine(text: string): string {
  const line = visibleText(text).toWellFormed().replaceAll(/\s+/g, " ").trim();
  if (line.length <= bounds.summaryChars) return line;
  const cut = line.slice(0, bounds.summaryChars - 1).replace(/[\ud800-\udbff]$/, ""); // no half of a sign
  return `${cut.trimEnd()}…`;
}
