import { specTypeSchemas } from "@modelcontextprotocol/client";
import { isRecord } from "@rockbot/base";

type Result = Readonly<Record<string, unknown>>;

/** In the `_meta` of a text block: the block that stands here, which the SDK would not take. */
const ORIGINAL = "rockbot/original";
/** In the `_meta` of a result: its structured content, where the SDK would leave a part of it out. */
export const WHOLE_STRUCTURED = "rockbot/structuredContent";
/** Names the task that stands in the place of a result, in the `_meta` of that result. */
export const TASK_ID = "rockbot/taskId";
/** The fields of a result that the protocol knows, beside its content. */
const KNOWN: ReadonlySet<string> = new Set(["content", "structuredContent", "isError", "_meta", "resultType"]);

/**
 * A result of a call in a form that the SDK takes. It keeps all that is in the result: blocks of unknown kinds, and
 * fields that are not where they belong. A task in its place becomes a result that names the task.
 */
export function readableResult(result: Result): Result {
  // The SDK knows no task in the place of a result.
  if (result["resultType"] === "task")
    return { resultType: "complete", content: [], _meta: { [TASK_ID]: result["taskId"] ?? null } };
  const { content, isError, _meta: meta, ...known } = result;
  const { structuredContent: structured, ...others } = known;
  // The SDK refuses a result whose structured content is no object, and its text with it.
  const isWhole = structured == null || (isRecord(structured) && !Object.hasOwn(structured, "__proto__"));
  const isNothing = content === undefined && structured == null;
  const rest = Object.fromEntries(Object.entries(result).filter(([key]) => !KNOWN.has(key)));
  const given = isNothing && Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : content;
  const blocks: readonly unknown[] = Array.isArray(given)
    ? given
    : given === undefined || given === null
      ? []
      : [given];
  return {
    ...others,
    ...(structured == null || !isWhole ? {} : { structuredContent: structured }),
    content: blocks.map(readableBlock),
    ...(isError === undefined || isError === null ? {} : { isError: isError !== false && isError !== "false" }),
    ...(isRecord(meta) || !isWhole
      ? { _meta: { ...(isRecord(meta) ? meta : {}), ...(isWhole ? {} : { [WHOLE_STRUCTURED]: structured }) } }
      : {}),
  };
}

/** The structured content as the server gave it. */
export const structuredOf = ({
  structuredContent,
  _meta,
}: {
  readonly structuredContent?: unknown;
  readonly _meta?: unknown;
}): unknown => (isRecord(_meta) && WHOLE_STRUCTURED in _meta ? _meta[WHOLE_STRUCTURED] : structuredContent);

/** The block as the server gave it. */
export function originalBlock(block: { readonly _meta?: unknown }): unknown {
  return isRecord(block._meta) && ORIGINAL in block._meta ? block._meta[ORIGINAL] : block;
}

function readableBlock(block: unknown): unknown {
  if (typeof block === "string") return { type: "text", text: block };
  const checked = specTypeSchemas.ContentBlock["~standard"].validate(block);
  if (!(checked instanceof Promise) && checked.issues === undefined) return block;
  const text = isRecord(block) && typeof block["text"] === "string" ? block["text"] : "";
  return { type: "text", text, _meta: { [ORIGINAL]: block } };
}
