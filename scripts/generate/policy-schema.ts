import type { Facet } from "../../packages/policy/src/facets/facet.ts";
import { facets } from "../../packages/policy/src/facets/index.ts";
import type { JsonSchema } from "./schema-document.ts";

/** The definitions of the frame that have the properties of facets. */
const HOLDERS = { PolicyEveryone: "entries", PolicyCaller: "entries", PolicyLimits: "limits" } as const;

/** The schema of the policy file: its frame, with each facet as a definition, and as a property where it stands. */
export function withFacets(frame: JsonSchema): JsonSchema {
  const named = Object.entries<Facet>(facets);
  const withThoseOf = (place: Facet["place"], schema: JsonSchema = {}): JsonSchema => ({
    ...schema,
    properties: Object.assign(
      { ...schema.properties },
      ...named.map(([name, facet]) =>
        facet.place === place ? { [name]: { $ref: `#/definitions/${typeOf(name)}` } } : {},
      ),
    ),
  });
  const definitions = (frame["definitions"] ?? {}) as Record<string, JsonSchema>;
  return {
    ...withThoseOf("file", frame),
    definitions: Object.assign(
      { ...definitions },
      ...Object.entries(HOLDERS).map(([name, place]) => ({ [name]: withThoseOf(place, definitions[name]) })),
      ...named.map(([name, { schema, definitions }]) => ({ [typeOf(name)]: schema, ...definitions })),
    ),
  };
}

const typeOf = (facet: string): string => `Policy${facet.slice(0, 1).toUpperCase()}${facet.slice(1)}`;
