import { isRecord } from "@rockbot/base";
import { deepPairs, encodeKey } from "../request/deep-pairs.ts";
import { cookiePair, encodeValue, headerValue, refusal, textOf } from "../request/place-value.ts";

/** Where an argument of an imported operation goes, and how it is written there. */
export interface Parameter {
  /** What the model calls it. */
  readonly argument: string;
  readonly name: string;
  readonly in: "path" | "query" | "header" | "cookie";
  readonly style: string;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  /** True if it is written as JSON, as its `content` says. */
  readonly isJson: boolean;
}

/** A value as a path has it. @throws {ToolError} */
export function pathText({ argument, name, style, explode, isJson }: Parameter, value: unknown): string {
  const text = (each: unknown): string => encodeValue(argument, isJson ? JSON.stringify(each) : each);
  const [start, separator, hasName] =
    style === "label" ? [".", ".", false] : style === "matrix" ? [";", ";", true] : ["", ",", false];
  const named = hasName ? `${encodeValue(argument, name)}=` : "";
  if (isJson) return text(value);
  if (Array.isArray(value)) {
    const parts = value.map(text);
    return explode ? start + parts.map((part) => named + part).join(separator) : start + named + parts.join(",");
  }
  if (isRecord(value)) {
    const pairs = Object.entries(value).map(([key, inner]) => [text(key), text(inner)] as const);
    return explode
      ? start + pairs.map((pair) => pair.join("=")).join(separator)
      : start + named + pairs.flat().join(",");
  }
  return start + named + text(value);
}

/**
 * The pairs of a query.
 * @param others names of other parameters of the query, whose place the keys of an object must not take
 * @throws {ToolError}
 */
export function queryPairs(parameter: Parameter, value: unknown, others: ReadonlySet<string>): string[] {
  const { argument, name, style, explode, allowReserved, isJson } = parameter;
  const text = (each: unknown): string =>
    allowReserved ? withReserved(encodeValue(argument, each)) : encodeValue(argument, each);
  const key = encodeKey(argument, name);
  if (value === null) return [];
  if (isJson) return [`${key}=${text(JSON.stringify(value))}`];
  if (style === "deepObject" && typeof value === "object") return deepPairs(argument, key, value);
  const separator = style === "spaceDelimited" ? "%20" : style === "pipeDelimited" ? "%7C" : ",";
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    if (explode) return value.map((each) => `${key}=${text(each)}`);
    return [`${key}=${value.map(text).join(separator)}`];
  }
  if (isRecord(value)) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null);
    if (!explode) return entries.length === 0 ? [] : [`${key}=${entries.flat().map(text).join(separator)}`];
    const taken = entries.find(([inner]) => others.has(inner));
    if (taken !== undefined)
      throw refusal(argument, `it has a property "${taken[0].slice(0, 80)}", which is another parameter`);
    return entries.flatMap(([inner, each]) =>
      (Array.isArray(each) ? each : [each]).map((one) => `${encodeKey(argument, inner)}=${text(one)}`),
    );
  }
  return [`${key}=${text(value)}`];
}

/** Reserved characters as they are, but for those that would end the value. */
const withReserved = (encoded: string): string =>
  encoded.replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D)/g, (it) => decodeURIComponent(it));

/** @throws {ToolError} */
export function headerText({ argument, explode, isJson }: Parameter, value: unknown): string {
  if (isJson) return headerValue(argument, JSON.stringify(value));
  if (Array.isArray(value)) return headerValue(argument, value.map(textOf).join(","));
  if (isRecord(value))
    return headerValue(
      argument,
      Object.entries(value)
        .map(([key, inner]) => `${key}${explode ? "=" : ","}${textOf(inner)}`)
        .join(","),
    );
  return headerValue(argument, value);
}

/** @throws {ToolError} */
export function cookieText({ argument, name, explode, isJson }: Parameter, value: unknown): string {
  if (isJson) return `${encodeValue(argument, name)}=${encodeValue(argument, JSON.stringify(value))}`;
  if (Array.isArray(value))
    return explode
      ? value.map((each) => cookiePair(name, each)).join("; ")
      : `${encodeValue(argument, name)}=${value.map((each) => encodeValue(argument, each)).join(",")}`;
  if (isRecord(value))
    return `${encodeValue(argument, name)}=${Object.entries(value)
      .flatMap(([key, inner]) => [encodeValue(argument, key), encodeValue(argument, inner)])
      .join(",")}`;
  return cookiePair(name, value);
}
