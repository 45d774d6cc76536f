import { createHash } from "node:crypto";
import { parseJson } from "@rockbot/contracts";

const MAX_NAME = 40;
const MAX_URL = 80;
/** A name that is cut ends in a hash of so many hex digits. */
const HASH_DIGITS = 8;

/** The names in the key of one result: its tool, its call, and the address that it was read from, if it is a page. */
export interface ResultNames {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly url: string | undefined;
}

/**
 * How the keys of a result begin: `{namespace}/web-{url}`, else `{namespace}/tool-{name}-{run}`. They follow from the
 * call, so a replayed one has the same. A name that does not fit, and a URL with characters that the key cannot tell
 * apart, end in a hash.
 */
export function resultKey(namespace: string, { toolName, toolCallId, url }: ResultNames): string {
  if (url !== undefined) return `${namespace}/web-${urlName(url)}`;
  return `${namespace}/tool-${cut(toolName.replace(/[^\p{L}\p{N}_-]/gu, "_"), MAX_NAME, toolName)}-${shortHash(toolCallId)}`;
}

/** The `url` among the arguments of a call, if it is a text. */
export function urlIn(args: string | null | undefined): string | undefined {
  const parsed = parseJson(args ?? "");
  const url =
    parsed.ok && typeof parsed.value === "object" && parsed.value !== null
      ? (parsed.value as { url?: unknown }).url
      : undefined;
  return typeof url === "string" && url !== "" ? url : undefined;
}

function urlName(url: string): string {
  const name = url.replace(/[^\p{L}\p{N}.-]/gu, "_").replace(/^_+/, "");
  const isPlain = /^https?:\/\/[\p{L}\p{N}./-]*$/u.test(url);
  return isPlain ? cut(name, MAX_URL, url) : withHash(name, MAX_URL, url);
}

const cut = (name: string, most: number, whole: string): string =>
  name.length <= most ? name : withHash(name, most, whole);

const withHash = (name: string, most: number, whole: string): string =>
  `${name.slice(0, most - HASH_DIGITS - 1).toWellFormed()}-${shortHash(whole)}`;

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, HASH_DIGITS);
