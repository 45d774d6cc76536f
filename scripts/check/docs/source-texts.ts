import { callsOf, nameOf, nodesIn, textOf } from "../../generate/source/sources.ts";
import { type Node, parseSource } from "../../generate/source/syntax.ts";
import { lineAt, lineStarts } from "../reasons.ts";

/** A text of a source for people: a block of a doc comment, or words of an error or of the log. */
export interface SourceText {
  readonly line: number;
  readonly text: string;
  /** True for the beginning of a comment, unless that is a tag. */
  readonly isOpening?: boolean;
}

const LEVELS: ReadonlySet<string> = new Set(["debug", "info", "warn", "error"]);

/** The doc comments of a file, of whatever name they are, and what its errors and its lines of the log say. */
export function sourceTexts(file: string, source: string): readonly SourceText[] {
  const { program, comments } = parseSource(file, source);
  const starts = lineStarts(source);
  const blocks = comments
    .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .flatMap(({ value, start }) =>
      commentBlocks(value).map((text, i) => ({
        line: lineAt(starts, start),
        text,
        ...(i === 0 && !/^\*\s*(?:\*\s*)?@/.test(value) && { isOpening: true }),
      })),
    );
  const words = [...errorsIn(program), ...logsIn({ file, program })].flatMap((node) => {
    const text = textOf(node);
    return text === undefined ? [] : [{ line: lineAt(starts, node.start), text: text.replaceAll("{…}", "`…`") }];
  });
  return [...blocks, ...words];
}

/** A doc comment's paragraphs, list items and tags, each by itself, without its marks. */
export function commentBlocks(comment: string): string[] {
  const text = comment
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .replace(/^\*/, "")
    .replaceAll(/^ {4}.*$/gm, ""); // a drawing
  return text
    .split(/\n\s*\n|\n(?=- )|(?<![\w`{])(?=@(?:default|throws|returns|see|param)\b)/)
    .map((block) =>
      block.replace(/^(?:- )?(?:@(?:throws|param)\s+(?:\{[^}]*\})?|@(?:default|returns|see)\b)/, "").trim(),
    )
    .filter((block) => block !== "");
}

const errorsIn = (program: Node): readonly Node[] =>
  nodesIn(program)
    .filter(({ type, ...node }) => type === "NewExpression" && /Error$/.test(nameOf(node["callee"] as Node) ?? ""))
    .flatMap((error) => error["arguments"] as Node[]);

const logsIn = (source: { readonly file: string; readonly program: Node }): readonly Node[] =>
  callsOf(source, LEVELS).flatMap(({ call, args }) =>
    /log$/i.test(nameOf((call["callee"] as Node)["object"] as Node) ?? "") ? args : [],
  );
