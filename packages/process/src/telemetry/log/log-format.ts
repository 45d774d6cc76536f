/** How lines of a log look: an object a line for machines, or text for a person. */
export type LogFormat = "json" | "text";

/**
 * The form of a log to `stream`: the wanted one, else text at a terminal and JSON elsewhere. Text has colours at a
 * terminal that wants them.
 */
export function formatFor(
  stream: { readonly isTTY?: boolean; hasColors?(): boolean },
  wanted?: LogFormat | undefined,
): "json" | "text" | "colours" {
  const isText = wanted === undefined ? stream.isTTY === true : wanted === "text";
  if (!isText) return "json";
  return stream.isTTY === true && stream.hasColors?.() === true ? "colours" : "text";
}
