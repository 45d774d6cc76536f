import { visibleText } from "@rockbot/contracts";
import TurndownService from "turndown";

/** Writes markdown from HTML that the other steps of toMarkdown have prepared. */
export function createTurndown(): TurndownService {
  const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", emDelimiter: "*", hr: "---", br: "" });

  // A page's text that looks like a tag or an entity is text: as it stands, markdown would read it as one. So would it once signs between its letters are gone.
  const escapeMarks = turndown.escape.bind(turndown);
  turndown.escape = (text) => escapeTags(escapeMarks(visibleText(text)).replaceAll(/&(?=#?\w{1,32};)/gi, "\\&"));
  turndown.addRule("strikethrough", { filter: ["del", "s"], replacement: (content) => (content.trim() === "" ? "" : `~~${content}~~`) });
  turndown.addRule("heading", {
    filter: ["h1", "h2", "h3", "h4", "h5", "h6"],
    replacement: (content, node) =>
      content.trim() === "" ? "" : `\n\n${"#".repeat(Number((node as unknown as DomNode).nodeName.charAt(1)))} ${oneLine(content)}\n\n`,
  });
  turndown.addRule("link", {
    filter: "a",
    replacement(content, node) {
      const href = attribute(node, "href");
      const text = oneLine(content);
      if (href === null || text === "") return content;
      // Some readers take escaped brackets in a link's text for brackets: then what follows must not begin an address.
      return `[${text.replaceAll("\\](", "\\]\\(")}](${href})`;
    },
  });
  turndown.addRule("listItem", {
    filter: "li",
    replacement(content, node) {
      const marker = attribute(node, "data-marker") ?? "- ";
      const text = content.trim();
      return text === "" ? "" : `${marker}${text.replaceAll("\n", `\n${" ".repeat(marker.length)}`)}\n`;
    },
  });

  for (const mark of ["sub", "sup"] as const) {
    turndown.addRule(mark, { filter: mark, replacement: (content) => (content.trim() === "" ? "" : `<${mark}>${content}</${mark}>`) });
  }
  addMarks(turndown);
  turndown.addRule("table", { filter: "table", replacement: (content) => `\n\n${content.trim()}\n\n` });
  turndown.addRule("tableRow", {
    filter: "tr",
    replacement(content, node) {
      const columns = attribute(node, "data-columns");
      return `\n|${content}${columns === null ? "" : `\n|${" --- |".repeat(Number(columns))}`}`;
    },
  });
  turndown.addRule("tableCell", {
    filter: ["td", "th"],
    replacement: (content) =>
      ` ${content
        .trim()
        .replaceAll("|", "\\|")
        .replace(/(<br>)+$/, "")
        .replaceAll(/\s*\n\s*/g, "<br>")} |`,
  });
  return turndown;
}

/** The text of the next element may make a tag of the last sign. In a bare address a backslash is part of the address. */
function escapeTags(text: string): string {
  return text.replaceAll(/\S+/g, (word, at: number) => {
    if (!word.includes("<")) return word;
    const tag = at + word.length === text.length ? /<(?=[a-z/!?]|$)/gi : /<(?=[a-z/!?])/gi;
    return word.replaceAll(tag, /:\/\/|www\./.test(word) ? "&lt;" : "\\<");
  });
}

/** Of the elements that the steps before make: formulas, footnotes, checkboxes, and pictures. */
function addMarks(turndown: TurndownService): void {
  const add = (name: string, replacement: (content: string, node: unknown) => string): void => {
    turndown.addRule(name, { filter: (node) => (node as unknown as DomNode).nodeName.toLowerCase() === name, replacement });
  };
  add("tex-math", (_, node) => {
    const tex = ((node as DomNode).textContent ?? "").replaceAll(/<(?=[a-z/!?])/gi, "\\lt ");
    return attribute(node, "data-block") === null ? `$${tex}$` : `\n\n$$\n${tex}\n$$\n\n`;
  });
  add("note-mark", (_, node) => `[^${attribute(node, "data-number")}]`);
  add("note-text", (content, node) => `\n\n[^${attribute(node, "data-number")}]: ${oneLine(content)}\n\n`);
  add("task-mark", (_, node) => (attribute(node, "data-done") === null ? "[ ] " : "[x] "));
  add("dt", (content) => (content.trim() === "" ? "" : `\n\n**${oneLine(content).replaceAll("**", "")}**\n`));
  add("dd", (content) => (content.trim() === "" ? "" : `\n: ${content.trim().replaceAll("\n", "\n  ")}\n`));
  add("img", (_, node) => `![${oneLine(turndown.escape(attribute(node, "alt") ?? ""))}](${attribute(node, "src")})`);
}

/** The fields that are read of the converter's nodes, whose types need a browser's. */
interface DomNode {
  readonly nodeName: string;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
}

const attribute = (node: unknown, name: string): string | null => (node as DomNode).getAttribute(name);

/** For what markdown ends at a line's end: blocks inside lose their own marks. */
const oneLine = (content: string): string =>
  content
    .split("\n")
    .map((line) => line.trim().replace(/^(#{1,6}|-) /, ""))
    .filter((line) => line !== "")
    .join(" ");
