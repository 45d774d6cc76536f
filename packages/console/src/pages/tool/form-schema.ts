import { visible } from "../../look/visible.ts";

type Json = Readonly<Record<string, unknown>>;

/** A stranger's schema as a form is made of it, or why none can be made, in words. */
export type FormSchema = { readonly schema: Json } | { readonly why: string };

/** The most schemas in it, with all references written out. */
const MAX_NODES = 2_000;
const MAX_DEPTH = 64;
const MAX_WORDS = 1_000;

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const MAPS = words("properties $defs definitions dependentSchemas dependencies");
const LISTS = words("allOf anyOf oneOf prefixItems items");
const ONES = words("items additionalItems additionalProperties contains propertyNames not if then else");
/** Expressions may take for ever, and the rest leads elsewhere, or chooses widgets that change what is typed. */
const DROPPED = words(
  "pattern patternProperties format title description $schema $id id $anchor $dynamicAnchor $dynamicRef $recursiveRef",
);

class NoFormError extends Error {}

/**
 * Takes out of a schema what a form cannot be trusted with. Each argument keeps its name as the label: a title is a
 * stranger's word, and stands with the description. One of several values is chosen by the value and its title.
 * Services check what is left out here.
 */
export function formSchema(schema: object): FormSchema {
  try {
    const copied = copy(schema) as Json;
    count(copied, copied);
    return { schema: copied };
  } catch (error) {
    if (error instanceof NoFormError) return { why: error.message };
    throw error;
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema with each of those directly below it as `change` makes it. */
function withBelow(schema: Json, change: (below: unknown, keyword: string) => unknown): Json {
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (MAPS.has(keyword) && isObject(value))
      return [
        keyword,
        Object.fromEntries(
          Object.entries(value).map(([name, one]) => [name, Array.isArray(one) ? one : change(one, keyword)]),
        ),
      ];
    if (LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map((one) => change(one, keyword))];
    return [keyword, ONES.has(keyword) ? change(value, keyword) : value];
  });
  return Object.fromEntries(entries);
}

function copy(schema: unknown, depth = 0, place = ""): unknown {
  if (depth > MAX_DEPTH) throw new NoFormError(`It has more than ${MAX_DEPTH} levels.`);
  if (!isObject(schema)) return schema === false ? { not: {} } : {};
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !DROPPED.has(keyword)));
  const copied = withBelow(kept, (below, keyword) =>
    keyword === "additionalProperties" && typeof below === "boolean" ? below : copy(below, depth + 1, keyword),
  );
  const { $ref } = schema;
  if ($ref !== undefined && !(typeof $ref === "string" && /^#(?:\/|$)/.test($ref)))
    throw new NoFormError("It refers to another schema, which is not looked up.");
  const [title, description] = [wordsOf(schema["title"]), wordsOf(schema["description"])];
  const isChoice = place === "oneOf" || place === "anyOf";
  const said = joined(isChoice ? "" : title, description);
  const name = isChoice ? joined(JSON.stringify(schema["const"]), title) : "";
  return { ...copied, ...(name === "" ? {} : { title: name }), ...(said === "" ? {} : { description: said }) };
}

const joined = (...parts: readonly (string | undefined)[]): string => parts.filter(Boolean).join(": ");

const wordsOf = (text: unknown): string => (typeof text === "string" ? visible(text.slice(0, MAX_WORDS)) : "");

/** @throws {NoFormError} if it is too large with its references written out, where that ends */
function count(root: Json, schema: Json): void {
  let nodes = 0;
  const look = (at: unknown, path: readonly string[]): void => {
    if (!isObject(at)) return;
    if (++nodes > MAX_NODES || path.length > MAX_DEPTH)
      throw new NoFormError(`It has more than ${MAX_NODES} parts, or refers to itself too deeply.`);
    withBelow(at, (below, keyword) => {
      if (keyword !== "$defs" && keyword !== "definitions") look(below, path);
      return below;
    });
    const { $ref } = at;
    if (typeof $ref !== "string" || path.includes($ref)) return;
    const target = targetOf(root, $ref);
    if (target === undefined) throw new NoFormError("It refers to a part of itself that is not there.");
    look(target, [...path, $ref]);
  };
  look(schema, []);
}

function targetOf(root: Json, reference: string): unknown {
  let at: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Json)[key];
  }
  return at;
}
