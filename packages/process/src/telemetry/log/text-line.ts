import { styleText } from "node:util";
import { printable } from "@rockbot/contracts";

type Style = Parameters<typeof styleText>[0];

const levelStyles: Readonly<Record<string, Style>> = { debug: "gray", info: "green", warn: "yellow", error: "red" };

/** Fields that JSON lines have for machines, and that a reader at a terminal does without. */
const leftOut: ReadonlySet<string> = new Set(["level", "time", "service", "version", "msg", "trace_id", "span_id"]);

/**
 * A line of the JSON log as a person reads it at a terminal: time, level, service, event, then the fields as
 * `name=value`. For an error it has the messages and the first frame. No text in it can move the cursor or start
 * another line.
 */
export function textLine(json: string, { hasColours = false }: { readonly hasColours?: boolean } = {}): string {
  const line = parsed(json);
  if (line === undefined) return `${plain(json.trimEnd())}\n`;
  const style = (format: Style, text: string): string =>
    hasColours ? styleText(format, text, { validateStream: false }) : text;
  const level = String(line.level);
  const fields = Object.entries(line).flatMap(([name, value]) => (leftOut.has(name) ? [] : fieldTexts(name, value)));
  const parts = [
    style("gray", plain(String(line.time).slice(11, 23))),
    style(levelStyles[level] ?? "reset", plain(level).toUpperCase().padEnd(5)),
    style("cyan", plain(String(line.service))),
    plain(String(line.msg ?? "")),
    ...fields.map(([name, value]) => `${style("gray", `${plain(name)}=`)}${value}`),
  ];
  return `${parts.join(" ").trimEnd()}\n`;
}

/** Undefined if a secret that looks like a piece of JSON took that piece with it: such a line is shown as it is. */
function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function fieldTexts(name: string, value: unknown): [string, string][] {
  if (!isError(value)) return [[name, valueText(value)]];
  const frame = value.stack?.split("\n").find((text) => /^\s+at /.test(text));
  return [
    [name, valueText(errorWords(value))],
    ...(frame === undefined ? [] : [["at", valueText(frame.trim().slice(3))] satisfies [string, string]]),
  ];
}

interface ErrorFields {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

const isError = (value: unknown): value is ErrorFields =>
  typeof value === "object" && value !== null && "type" in value && "message" in value;

const errorWords = ({ type, message, cause }: ErrorFields): string =>
  `${type}: ${message}${isError(cause) ? `, by ${errorWords(cause)}` : ""}`;

/** A word stands as it is; all else is JSON. */
function valueText(value: unknown): string {
  return plain(typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value));
}

/** The log bounds its texts itself. */
const plain = (text: string): string => printable(text, Number.POSITIVE_INFINITY);
