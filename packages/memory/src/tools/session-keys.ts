import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** First segments of namespaces, of this session and of others. */
const ROOTS = new Set(["session", "patrol", "subagent", "research", "family"]);

/**
 * The whole key that a model means. One with a slash is whole, and must lie in the session's namespace; another gets
 * that before it.
 * @throws {ToolError} `denied`, for a key of another namespace
 */
export function wholeKey(key: string, namespace: string): string {
  if (!key.includes("/")) return `${namespace}/${key}`;
  if (isWithin(key, namespace)) return key;
  throw outside(
    key,
    namespace,
    `A key of this session that has a slash is written in full, such as "${namespace}/${key.slice(0, 80)}".`,
  );
}

/**
 * The key under which a model saves: as `wholeKey`, but a key of its own may have slashes, such as `plan/step-1`.
 * @throws as `wholeKey`
 */
export function keyToSave(key: string, namespace: string): string {
  if (isWithin(key, namespace)) return key;
  if (key.includes("/") && ROOTS.has(key.slice(0, key.indexOf("/"))))
    throw outside(key, namespace, "Save it under a short name.");
  return `${namespace}/${key}`;
}

/** The beginning that a model asks for of keys. @throws as `wholeKey` */
export function wholePrefix(prefix: string | undefined, namespace: string): string {
  if (prefix === undefined || prefix === namespace) return `${namespace}/`;
  return wholeKey(prefix, namespace);
}

const isWithin = (key: string, namespace: string): boolean =>
  key.startsWith(`${namespace}/`) && key.length > namespace.length + 1;

const outside = (key: string, namespace: string, advice: string): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `Cannot reach "${key.slice(0, 200)}" in working memory: this session has only the keys that begin with "${namespace}/". ${advice}`,
  );
