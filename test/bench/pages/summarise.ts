import type { PageScore } from "./score.ts";
import { structureKinds } from "./structure.ts";

/**
 * Scores as a table in markdown: all pages, those that have content where some have none, then each type of page.
 * Precision, recall and F1 are means over pages, leak and structure are shares over all.
 */
export function summarise(scores: readonly (PageScore & { readonly pageType: string })[]): string {
  const types = [...new Set(scores.map(({ pageType }) => pageType))].sort();
  const withContent = scores.filter(({ words }) => words > 0);
  const rows = [
    ["pages", "n", "word F1", "precision", "recall", "leak", "with", "bloat", ...structureKinds],
    ["---", ...Array.from({ length: 12 }, () => "--:")],
    rowOf("all", scores),
    ...(withContent.length < scores.length ? [rowOf("with content", withContent)] : []),
    ...types.map((type) =>
      rowOf(
        type,
        scores.filter(({ pageType }) => pageType === type),
      ),
    ),
  ];
  return rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function rowOf(name: string, scores: readonly PageScore[]): string[] {
  const mean = (of: (score: PageScore) => number): string =>
    (scores.reduce((sum, score) => sum + of(score), 0) / scores.length).toFixed(3);
  const share = (part: (score: PageScore) => number, whole: (score: PageScore) => number): number =>
    scores.reduce((sum, score) => sum + part(score), 0) / scores.reduce((sum, score) => sum + whole(score), 0);
  const percent = (value: number): string => (Number.isNaN(value) ? "-" : (100 * value).toFixed(1));
  const bloats = scores.map(({ bloat }) => bloat).sort((a, b) => a - b);
  return [
    name,
    String(scores.length),
    mean(({ f1 }) => f1),
    mean(({ precision }) => precision),
    mean(({ recall }) => recall),
    share(
      ({ leaked }) => leaked,
      ({ unwanted }) => unwanted,
    ).toFixed(3),
    share(
      ({ came }) => came,
      ({ wanted }) => wanted,
    ).toFixed(3),
    (bloats[Math.floor(bloats.length / 2)] ?? 0).toFixed(2),
    ...structureKinds.map((kind) =>
      percent(
        share(
          ({ structure }) => structure[kind].kept,
          ({ structure }) => structure[kind].there,
        ),
      ),
    ),
  ];
}
