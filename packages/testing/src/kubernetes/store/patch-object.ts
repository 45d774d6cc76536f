import { ApiFailure, badRequest } from "./api-failure.ts";

interface JsonPatchStep {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/**
 * By the media type of a patch request.
 * @throws {ApiFailure} 415 for a type that is none of these, 400 or 422 for a patch that cannot be applied
 */
export function patchObject(mediaType: string, object: object, patch: unknown): object {
  switch (mediaType.split(";", 1)[0]) {
    case "application/json-patch+json":
      if (!Array.isArray(patch))
        throw badRequest("error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch");
      return (patch as JsonPatchStep[]).reduce(applyStep, structuredClone(object));
    case "application/merge-patch+json":
      return merge(object, patch, () => undefined) as object;
    case "application/strategic-merge-patch+json":
      return merge(object, patch, mergeByKey) as object;
    default:
      throw new ApiFailure(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json",
      );
  }
}

type MergeLists = (before: unknown, patch: unknown) => unknown[] | undefined;

/** @see RFC 7396 */
function merge(before: unknown, patch: unknown, mergeLists: MergeLists): unknown {
  if (Array.isArray(patch)) return mergeLists(before, patch) ?? patch;
  if (typeof patch !== "object" || patch === null) return patch;
  const merged: Record<string, unknown> =
    typeof before === "object" && before !== null && !Array.isArray(before) ? { ...before } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value, mergeLists);
  }
  return merged;
}

/**
 * Lists of named things are merged by name, others replaced, as the pod's schema has it for containers, volumes and
 * variables.
 */
const mergeByKey: MergeLists = (before, patch) => {
  const isNamed = (list: unknown): list is { readonly name: string }[] =>
    Array.isArray(list) && list.every((item) => typeof item?.name === "string");
  if (!isNamed(patch) || !isNamed(before)) return undefined;
  const changed = before.map((item) => {
    const change = patch.find(({ name }) => name === item.name);
    return change === undefined ? item : merge(item, change, mergeByKey);
  });
  return [...changed, ...patch.filter(({ name }) => !before.some((item) => item.name === name))];
};

/** @see RFC 6902 */
function applyStep(target: object, { op, path, from, value }: JsonPatchStep): object {
  switch (op) {
    case "test":
      if (JSON.stringify(valueAt(target, path)) !== JSON.stringify(value))
        throw cannotApply(`testing path ${path} failed`);
      return target;
    case "add":
    case "replace":
      return setAt(target, path, value, op);
    case "remove":
      return removeAt(target, path);
    case "copy":
      return setAt(target, path, structuredClone(valueAt(target, from ?? "")), "add");
    case "move": {
      const moved = valueAt(target, from ?? "");
      return setAt(removeAt(target, from ?? ""), path, moved, "add");
    }
    default:
      throw badRequest(`error decoding patch: unexpected kind: ${op}`);
  }
}

const cannotApply = (why: string): ApiFailure =>
  new ApiFailure(422, "Invalid", `the server rejected our request due to an error in our request: ${why}`);

const keysOf = (path: string): string[] =>
  path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

function parentOf(target: object, path: string): { readonly parent: Record<string, unknown>; readonly key: string } {
  const keys = keysOf(path);
  const key = keys.pop() ?? "";
  const parent = keys.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], target);
  if (typeof parent !== "object" || parent === null) throw cannotApply(`doc is missing path: "${path}": missing value`);
  return { parent: parent as Record<string, unknown>, key };
}

function valueAt(target: object, path: string): unknown {
  const { parent, key } = parentOf(target, path);
  return parent[key];
}

function setAt(target: object, path: string, value: unknown, op: "add" | "replace"): object {
  const { parent, key } = parentOf(target, path);
  if (op === "replace" && !(key in parent))
    throw cannotApply(`replace operation does not apply: doc is missing key: ${path}: missing value`);
  if (Array.isArray(parent) && op === "add") parent.splice(key === "-" ? parent.length : Number(key), 0, value);
  else parent[key] = value;
  return target;
}

function removeAt(target: object, path: string): object {
  const { parent, key } = parentOf(target, path);
  if (!(key in parent))
    throw cannotApply(`remove operation does not apply: doc is missing path: ${path}: missing value`);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return target;
}
