import { readFile } from "node:fs/promises";
import { createPolicy, type Facet, facets, policyTable, readPolicy, type ServiceFacet } from "@rockbot/policy";
import { busServices } from "@rockbot/services";
import { stringify } from "yaml";
import { code, fillPage, table } from "../fill-page.ts";

/** `docs/reference/policy.md`: the meaning of a policy, with an example and the rights that it gives. */
export async function policyReference(example: string): Promise<string> {
  const text = await readFile(example, "utf8");
  const effect = policyTable(createPolicy(await readPolicy(text, example)));
  const head = ["says", "how it holds", "what a call beyond it gets", "read by"];
  return fillPage("policy", `${example}, packages/policy/src/facets`, {
    facets: table(head, named.flatMap(rowsOf)),
    each: stringify(eachInItsPlace()).trimEnd(),
    example: text.trimEnd(),
    table: effect,
  });
}

const named = Object.entries<Facet>(facets);

function rowsOf([name, { place, readBy, docs }]: (typeof named)[number]): string[][] {
  const readers = busServices.filter((service) => service.facets?.includes(name as ServiceFacet));
  const by =
    readBy === "decisions" ? "each service, for each call" : readers.map((service) => code(service.name)).join(", ");
  return docs.map(({ property, holds, beyond }) => {
    const path = [...(place === "limits" ? [place] : []), name, ...(property === undefined ? [] : [property])];
    return [code(path.join(".")), holds, beyond, by];
  });
}

function eachInItsPlace(): object {
  const at = (wanted: Facet["place"]): object =>
    Object.fromEntries(named.flatMap(([name, { place, example }]) => (place === wanted ? [[name, example]] : [])));
  const operators = [{ name: "ops", tokens: [], may: ["decide"] }]; // whom the example of `approve` names
  return { callers: { researcher: { ...at("entries"), limits: at("limits") } }, operators, ...at("file") };
}
