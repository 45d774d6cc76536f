import { type BusService, egresses, type Server } from "@rockbot/services";
import { code, fillPage, table } from "../fill-page.ts";
import { foreignWords } from "../source/foreign-words.ts";
import type { Source } from "../source/sources.ts";
import { readCatalogue } from "./catalogue.ts";

/**
 * `docs/reference/foreign-words.md`: every way in which others' words reach a model. A service that connects to others,
 * and labels nothing that they say, needs an entry that says why.
 */
export async function foreignWordsReference(
  sources: readonly Source[],
  services: readonly (BusService | Server)[],
): Promise<string> {
  const found = foreignWords(sources);
  const labels = new Set(found.map(({ key }) => key));
  const silent = services.filter(({ name, egress }) => egress.length > 0 && !labels.has(`services/${name} says`));
  const words = await readCatalogue<string>("foreign-words", [
    ...labels,
    ...silent.map(({ name }) => `${name} says nothing`),
  ]);
  const rows = (kind: string) =>
    found
      .filter(({ key }) => key.endsWith(` ${kind}`))
      .map(({ key, files }) => [
        code(key.slice(0, -kind.length - 1)),
        words[key] ?? "",
        files.map((file) => code(`src/${file}`)).join(", "),
      ]);
  const head = ["part", "words", "where"];
  const nothing = silent.map(({ name, egress }) => [
    code(name),
    egress.map((each) => egresses[each]).join(", "),
    words[`${name} says nothing`] ?? "",
  ]);
  return fillPage("foreign-words", "the calls of saidBy, definedBy and fence", {
    says: table(head, rows("says")),
    defines: table(head, rows("defines")),
    fences: table(head, rows("fences")),
    nothing: table(["service", "connects to", "why"], nothing),
  });
}
