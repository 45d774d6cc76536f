import { badRequest } from "./api-failure.ts";
import type { KubeObject, Pod } from "./objects.ts";

export type Selector = (object: KubeObject) => boolean;

/** Of the query parameters `labelSelector` and `fieldSelector`. @throws {ApiFailure} 400 for one that cannot be read */
export function selectorOf(query: URLSearchParams): Selector {
  const byLabel = (query.get("labelSelector") ?? "").split(/,(?![^(]*\))/).map(labelRequirement);
  const byField = (query.get("fieldSelector") ?? "").split(",").map(fieldRequirement);
  return (object) => [...byLabel, ...byField].every((isMet) => isMet(object));
}

function labelRequirement(text: string): Selector {
  const requirement = text.trim();
  if (requirement === "") return () => true;
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(requirement);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return (object) => values.includes(labelOf(object, key) ?? "\0") === (operator === "in");
  }
  const equality = /^([^!=\s]+)\s*(==|=|!=)\s*([\w.-]*)$/.exec(requirement);
  if (equality !== null) {
    const [, key = "", operator, value] = equality;
    return (object) => (labelOf(object, key) === value) === (operator !== "!=");
  }
  const existence = /^(!?)([\w./-]+)$/.exec(requirement);
  if (existence === null)
    throw badRequest(`unable to parse requirement: found '${requirement}', expected: '=', '!=', '==', 'in', notin'`);
  const [, not, key = ""] = existence;
  return (object) => (labelOf(object, key) === undefined) === (not === "!");
}

const labelOf = (object: KubeObject, key: string): string | undefined => object.metadata.labels?.[key];

const FIELDS: Readonly<Record<string, (object: KubeObject) => string>> = {
  "metadata.name": ({ metadata }) => metadata.name,
  "metadata.namespace": ({ metadata }) => metadata.namespace ?? "",
  "spec.nodeName": (object) => (object as Pod).spec?.nodeName ?? "",
  "spec.restartPolicy": (object) => (object as Pod).spec?.restartPolicy ?? "",
  "spec.serviceAccountName": (object) => (object as Pod).spec?.serviceAccountName ?? "",
  "status.phase": (object) => (object as Pod).status?.phase ?? "",
};

function fieldRequirement(text: string): Selector {
  if (text === "") return () => true;
  const [, field = "", operator, value] = /^([^!=]+)(==|=|!=)(.*)$/.exec(text) ?? [];
  if (operator === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
  const read = FIELDS[field];
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return (object) => (read(object) === value) === (operator !== "!=");
}
