const QUOTE = '"';
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const POINT = 0x2e;
const PLUS = 0x2b;
const MINUS = 0x2d;
/** Space, tab, line feed and carriage return: what JSON allows between a name and its colon. */
const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

/** Facts of a JSON text that the value parsed from it has lost. */
export interface JsonScan {
  /**
   * How many members its objects have, each name counted as often as it stands there: more than the value has if one
   * stands twice.
   */
  readonly members: number;
  /** Where numbers stand that JSON.parse changes into others, in their order. */
  readonly inexact: readonly Span[];
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** "1e309". */
const SHORTEST_INEXACT = 5;
/** So many digits a number has to have to be inexact: in its whole part, its fraction or its exponent. */
const WHOLE_DIGITS = 16;
const FRACTION_DIGITS = 300;
const EXPONENT_DIGITS = 3;
const NUMBERS = /-?\d[\d.eE+-]*/g;
const EXACT: readonly Span[] = [];

/**
 * Looks through a JSON text once. Jumps from quote to quote, so that long strings cost little.
 * @param json a text that JSON.parse has taken
 */
export function scanJson(json: string): JsonScan {
  let members = 0;
  let inexact: Span[] | undefined;
  for (let from = 0; ; ) {
    const open = json.indexOf(QUOTE, from);
    const to = open < 0 ? json.length : open;
    if (to - from >= SHORTEST_INEXACT) inexact = addInexact(json, from, to, inexact);
    if (open < 0) return { members, inexact: inexact ?? EXACT };
    let close = json.indexOf(QUOTE, open + 1);
    while (isEscaped(json, close)) close = json.indexOf(QUOTE, close + 1);
    from = close + 1;
    while (isBlank(json.charCodeAt(from))) from++;
    if (json.charCodeAt(from) === COLON) members++;
  }
}

/**
 * A JSON text with quotes around the numbers that JSON.parse changes; itself if there are none. It has to be one that
 * JSON.parse has taken.
 */
export function quoteInexact(json: string): string {
  const { inexact } = scanJson(json);
  return inexact.length === 0 ? json : quoteNumbers(json, inexact);
}

/** True if a text is what became of such a number. */
export const isInexactText = (text: string): boolean => /^-?\d[\d.eE+-]*$/.test(text) && isInexact(text);

/** The text with quotes around the numbers at these places. */
export function quoteNumbers(json: string, spans: readonly Span[]): string {
  let quoted = "";
  let at = 0;
  for (const { start, end } of spans) {
    quoted += `${json.slice(at, start)}"${json.slice(start, end)}"`;
    at = end;
  }
  return quoted + json.slice(at);
}

/**
 * Tells whether a number of JSON becomes another one in JavaScript. An integer may come out with other digits; a number
 * may be too large or too small to be kept. Digits of a fraction that a double does not hold are no such thing: writers
 * print more of them than they mean.
 */
function isInexact(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  if (value === 0) return /^[^eE]*[1-9]/.test(literal);
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(literal) && String(value) !== literal;
}

/** Looks at what stands between two strings. */
function addInexact(json: string, from: number, to: number, found: Span[] | undefined): Span[] | undefined {
  if (!mayBeInexact(json, from, to)) return found;
  const spans = found ?? [];
  for (const { 0: literal, index } of json.slice(from, to).matchAll(NUMBERS))
    if (isInexact(literal)) spans.push({ start: from + index, end: from + index + literal.length });
  return spans;
}

/** Tells whether a number there has enough digits. A regular expression took ten times as long. */
function mayBeInexact(json: string, from: number, to: number): boolean {
  let digits = 0;
  let limit = WHOLE_DIGITS;
  for (let at = from; at < to; at++) {
    const code = json.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      if (++digits === limit) return true;
    } else if (code === POINT) {
      digits = 0;
      limit = FRACTION_DIGITS;
    } else if ((code === 0x65 || code === 0x45) && digits > 0) {
      const next = json.charCodeAt(at + 1);
      if (next === PLUS || next === MINUS) at++;
      digits = 0;
      limit = EXPONENT_DIGITS;
    } else {
      digits = 0;
      limit = WHOLE_DIGITS;
    }
  }
  return false;
}

/** Tells whether an odd number of backslashes stands before. */
function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
