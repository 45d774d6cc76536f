import { isRecord } from "@rockbot/base";
import { type BodyType, encodeBody } from "./encode-body.ts";
import { checkSegments, encodeValue, headerValue, refusal, textOf } from "./place-value.ts";
import type { PreparedRequest } from "./prepared-request.ts";
import { parametersIn, type TextTemplate } from "./text-template.ts";

/** A body of the file: texts of it are templates. */
export type BodyTemplate =
  | { readonly template: TextTemplate }
  | { readonly list: readonly BodyTemplate[] }
  | { readonly fields: readonly (readonly [string, BodyTemplate])[] }
  | { readonly value: unknown };

/** An endpoint of the file, as requests are made of it. */
export interface RequestTemplate {
  readonly method: string;
  /** The origin with the host, which no argument changes. */
  readonly origin: string;
  readonly path: TextTemplate;
  /** `name=value` of the address, and those that the file adds. */
  readonly query: readonly TextTemplate[];
  readonly namedQuery: readonly (readonly [string, TextTemplate])[];
  readonly headers: readonly (readonly [string, TextTemplate])[];
  readonly body: BodyTemplate | undefined;
  readonly bodyType: BodyType;
  /** Where the arguments go that stand nowhere else. */
  readonly rest: "query" | "body" | "nowhere";
}

/** @throws {ToolError} `invalid_arguments` if a value would leave its place */
export function prepareFromTemplate(from: RequestTemplate, args: Readonly<Record<string, unknown>>): PreparedRequest {
  const used = new Set(usedBy(from));
  const rest = Object.entries(args).filter(([name, value]) => !used.has(name) && value !== undefined);
  const url = new URL(from.origin + pathOf(from.path, args));
  const pairs = [
    ...from.query.flatMap((pair) => pairTexts(pair, args, literalQuery)),
    ...from.namedQuery.flatMap(([name, template]) =>
      pairTexts(template, args, (text) => encodeValue(name, text)).map((text) => `${encodeValue(name, name)}=${text}`),
    ),
    ...(from.rest === "query"
      ? rest.flatMap(([name, value]) =>
          valuesOf(value).map((each) => `${encodeValue(name, name)}=${encodeValue(name, each)}`),
        )
      : []),
  ];
  url.search = pairs.join("&");
  const headers: Record<string, string> = {};
  for (const [name, template] of from.headers) {
    const text = headerText(template, args);
    if (text !== undefined) headers[name.toLowerCase()] = text;
  }
  const value =
    from.body !== undefined ? filled(from.body, args) : from.rest === "body" ? Object.fromEntries(rest) : undefined;
  if (value === undefined) return { method: from.method, url, headers };
  const { contentType, body } = encodeBody(from.bodyType, value);
  return { method: from.method, url, headers: { "content-type": contentType, ...headers }, body };
}

/** The arguments that have a place in a request. */
export function usedBy({ path, query, namedQuery, headers, body }: RequestTemplate): string[] {
  return [path, ...query, ...[...namedQuery, ...headers].map(([, template]) => template)]
    .flatMap(parametersIn)
    .concat(body === undefined ? [] : namesIn(body));
}

function namesIn(body: BodyTemplate): string[] {
  if ("template" in body) return parametersIn(body.template);
  if ("list" in body) return body.list.flatMap(namesIn);
  return "fields" in body ? body.fields.flatMap(([, inner]) => namesIn(inner)) : [];
}

function pathOf(template: TextTemplate, args: Readonly<Record<string, unknown>>): string {
  const segments: { text: string; names: string[] }[] = [{ text: "", names: [] }];
  const last = () => segments.at(-1) as { text: string; names: string[] };
  for (const part of template) {
    if (typeof part === "string") {
      const [first = "", ...more] = part.split("/");
      last().text += first;
      for (const text of more) segments.push({ text, names: [] });
      continue;
    }
    const name = part.parameter.join(".");
    const value = argumentAt(args, part.parameter);
    if (value === undefined || value === null)
      throw refusal(name, "it is missing, and stands in the path of the address");
    last().text += encodeValue(name, value);
    last().names.push(name);
  }
  checkSegments(segments);
  return segments.map(({ text }) => text).join("/");
}

/** A pair is left out with its argument. A list is as many pairs. */
function pairTexts(
  template: TextTemplate,
  args: Readonly<Record<string, unknown>>,
  literal: (text: string) => string,
): string[] {
  const only = template.filter((part) => typeof part !== "string");
  const values = only.map((part) => argumentAt(args, part.parameter));
  if (values.some((value) => value === undefined || value === null)) return [];
  const list = values.length === 1 && Array.isArray(values[0]) ? values[0] : [undefined];
  return list.map((element) =>
    template
      .map((part) =>
        typeof part === "string"
          ? literal(part)
          : encodeValue(part.parameter.join("."), element ?? argumentAt(args, part.parameter)),
      )
      .join(""),
  );
}

/** What the operator wrote in an address, where it may be encoded already. */
const literalQuery = (text: string): string => text.replaceAll(/[\s#"<>]/g, (it) => encodeURIComponent(it));

const valuesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === null ? [] : [value]);

function headerText(template: TextTemplate, args: Readonly<Record<string, unknown>>): string | undefined {
  const texts: string[] = [];
  for (const part of template) {
    if (typeof part === "string") {
      texts.push(part);
      continue;
    }
    const value = argumentAt(args, part.parameter);
    if (value === undefined || value === null) return undefined;
    texts.push(headerValue(part.parameter.join("."), value));
  }
  return texts.join("");
}

/** The body with its arguments; what has none is left out. */
function filled(body: BodyTemplate, args: Readonly<Record<string, unknown>>): unknown {
  if ("value" in body) return body.value;
  if ("list" in body) return body.list.map((inner) => filled(inner, args)).filter((value) => value !== undefined);
  if ("fields" in body)
    return Object.fromEntries(
      body.fields
        .map(([name, inner]) => [name, filled(inner, args)] as const)
        .filter(([, value]) => value !== undefined),
    );
  const [first, ...more] = body.template;
  if (first !== undefined && typeof first !== "string" && more.length === 0) return argumentAt(args, first.parameter);
  return body.template
    .map((part) => (typeof part === "string" ? part : textOf(argumentAt(args, part.parameter))))
    .join("");
}

function argumentAt(args: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  let at: unknown = args;
  for (const step of path) at = isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  return at;
}
