import type { Definition, HeldTool } from "../../api/approvals.ts";
import { visible } from "../../look/visible.ts";
import { WordDiff } from "../../look/word-diff.tsx";

const json = (value: object | undefined): string => (value === undefined ? "" : JSON.stringify(value, undefined, 2));

/** The texts of a definition, by what they are. */
const partsOf = (definition: Definition | undefined): readonly (readonly [name: string, text: string])[] => [
  ["title", definition?.title ?? ""],
  ["description", definition?.description ?? ""],
  ["arguments", json(definition?.inputSchema)],
  ["result", json(definition?.outputSchema)],
  ["hints", json(definition?.annotations)],
];

/** What a held definition says: of a changed one what differs, word by word, of a new one all. */
export function DefinitionView({ tool: { definition, before, changes } }: { readonly tool: HeldTool }) {
  if (definition === undefined) return <pre>{changes.map(visible).join("\n")}</pre>;
  const was = new Map(partsOf(before));
  const parts = partsOf(definition).filter(([name, text]) => text !== (was.get(name) ?? ""));
  if (parts.length === 0) return <p className="quiet">Its words are those of before.</p>;
  return parts.map(([name, text]) => (
    <div key={name}>
      <p className="quiet">{name}</p>
      {before === undefined ? <pre>{visible(text)}</pre> : <WordDiff before={was.get(name) ?? ""} after={text} />}
    </div>
  ));
}
