import { parseJson } from "@rockbot/contracts";

/** What a page's script leaves for those that draw the page. */
export interface ScriptState {
  /** The name of the window's property that holds it. */
  readonly name: string;
  /** Valid. */
  readonly json: string;
}

/** So many values that seem to have no end are gone through to the end of their script. */
const MAX_ENDLESS = 10;
/** The longest value, in characters. A regular expression that goes through a much longer text fails. */
const MAX_LENGTH = 5_000_000;

/** Where a value begins that is assigned to a property of the window, or pushed to a list there. */
const ASSIGNED =
  /\b(?:window|self|globalThis)\s*(?:\.\s*([\w$]+)|\[\s*["']([\w$.-]+)["']\s*\])\s*(?:=\s*(?:(?=[[{])|JSON\.parse\(\s*(?=["']))|(?:\|\|\s*\[\]\s*\))?\.push\((?=\[))/g;

/**
 * The values that scripts assign to the window as JSON, or as a text of JSON, and what Next.js sends of its server's
 * components. What is not JSON is left out.
 */
export function statesOf(scripts: readonly string[]): readonly ScriptState[] {
  const states: ScriptState[] = [];
  const sent: string[] = [];
  let endless = 0;
  for (const script of scripts) {
    ASSIGNED.lastIndex = 0;
    for (let found = ASSIGNED.exec(script); found !== null && endless < MAX_ENDLESS; found = ASSIGNED.exec(script)) {
      const { lastIndex: start } = ASSIGNED;
      const name = found[1] ?? found[2] ?? "";
      const isPushed = found[0].endsWith(".push(");
      if (isPushed && name !== "__next_f") continue;
      const end = endOf(script, start);
      if (end === undefined) {
        endless++;
        continue;
      }
      ASSIGNED.lastIndex = end;
      const json = jsonOf(script.slice(start, end));
      if (isPushed) sent.push(pushed(json));
      else if (json !== undefined) states.push({ name, json });
    }
  }
  const rows = rowsOf(sent.join(""));
  return rows.length === 0 ? states : [...states, { name: "__next_f", json: `[${rows.join(",")}]` }];
}

/** Where the text, list or object that begins at `start` ends; undefined if it does not. */
function endOf(script: string, start: number): number | undefined {
  let depth = 0;
  for (let i = start; i < script.length; i++) {
    const sign = script[i] as string;
    if (sign === '"' || (sign === "'" && depth === 0)) {
      for (i++; i < script.length && script[i] !== sign; i++) if (script[i] === "\\") i++;
    } else if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") depth--;
    if (depth === 0) return i < script.length ? i + 1 : undefined;
  }
  return undefined;
}

/** The JSON that a literal is, or that a text of a script holds; undefined where that is none, or says nothing. */
function jsonOf(literal: string): string | undefined {
  if (literal.length > MAX_LENGTH) return undefined;
  const isText = literal.startsWith('"') || literal.startsWith("'");
  const json = isText
    ? unquoted(literal)
    : literal.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\bundefined\b/gs, (token) =>
        token === "undefined" ? "null" : token,
      );
  return json !== undefined && /^\s*[[{]\s*[^\s\]}]/.test(json) && parseJson(json).ok ? json : undefined;
}

/** What a text of JavaScript says. */
function unquoted(literal: string): string | undefined {
  const json = literal.slice(1, -1).replaceAll(/\\x([\da-f]{2})|\\(.)|"/gis, (token, hex?: string, sign?: string) => {
    if (hex !== undefined) return `\\u00${hex}`;
    if (sign === undefined) return '\\"';
    return '"\\/bfnrtu'.includes(sign) ? token : sign;
  });
  const text = parseJson(`"${json}"`);
  return text.ok && typeof text.value === "string" ? text.value : undefined;
}

/** The part of its components that Next.js pushes at a time. */
function pushed(json: string | undefined): string {
  const value = json === undefined ? undefined : parseJson(json);
  const [kind, text] = value?.ok === true && Array.isArray(value.value) ? value.value : [];
  return kind === 1 && typeof text === "string" ? text : "";
}

const COLON = 58;
const LINE_END = 10;
const MAX_ID = 8;

/**
 * What React sends of components: rows of JSON, each on a line behind its number, and texts whose length in bytes
 * stands before them. Rows that name modules are left out.
 * @see https://github.com/facebook/react/blob/main/packages/react-client/src/ReactFlightClient.js
 */
function rowsOf(flight: string): readonly string[] {
  const bytes = Buffer.from(flight);
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    const end = lineEnd === -1 ? bytes.length : lineEnd;
    const colon = bytes.subarray(at, Math.min(end, at + MAX_ID + 1)).indexOf(COLON);
    const row = colon === -1 ? "" : bytes.toString("utf8", at + colon + 1, end);
    const [head, length] = /^T([\da-f]{1,8}),/.exec(row) ?? [];
    if (head !== undefined && length !== undefined) {
      const start = at + colon + 1 + head.length;
      at = start + Number.parseInt(length, 16);
      rows.push(JSON.stringify(bytes.toString("utf8", start, at)));
      continue;
    }
    if (/^[[{]/.test(row) && parseJson(row).ok) rows.push(row);
    at = end + 1;
  }
  return rows;
}
