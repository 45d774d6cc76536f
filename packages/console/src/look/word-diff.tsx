import { diffWordsWithSpace } from "diff";
import { useMemo } from "react";
import { visible } from "./visible.ts";

/** Texts that differ so much that this does not do are shown whole. */
const MAX_MS = 200;

/** What was taken away between two texts, and what came, word by word. */
export function WordDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const changes = useMemo(
    () => diffWordsWithSpace(visible(before), visible(after), { timeout: MAX_MS }),
    [before, after],
  );
  if (changes === undefined)
    return (
      <pre>
        <del>{visible(before)}</del>
        {"\n"}
        <ins>{visible(after)}</ins>
      </pre>
    );
  return (
    <pre>
      {changes.map(({ value, added, removed }, index) =>
        added ? <ins key={index}>{value}</ins> : removed ? <del key={index}>{value}</del> : value,
      )}
    </pre>
  );
}
