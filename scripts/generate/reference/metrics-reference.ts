import { code, fillPage, table } from "../fill-page.ts";
import { instruments } from "../source/instruments.ts";
import type { Source } from "../source/sources.ts";

/** `docs/reference/metrics.md`: every instrument that the code makes. */
export async function metricsReference(sources: readonly Source[]): Promise<string> {
  const rows = instruments(sources).map(({ name, kind, unit, tags, description, from }) => [
    code(name),
    kind,
    unit ?? "",
    tags.map(code).join(" "),
    from,
    description,
  ]);
  return fillPage("metrics", "the instruments that packages and services make", {
    instruments: table(["name", "kind", "unit", "tags", "from", "meaning"], rows),
  });
}
