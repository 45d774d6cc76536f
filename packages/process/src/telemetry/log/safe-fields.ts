import { REDACTED, redact } from "@rockbot/base/redaction";

/** Names whose values are secrets, compared without case, "-" and "_". */
const secretName = /authorization|cookie|passw|secret|credential|apikey|accesskey|privatekey|token$/;

const MAX_TEXT = 1024;
/** Text beyond this is not looked at: it is cut off anyway. */
const MAX_SCANNED = 16 * 1024;
const MAX_DEPTH = 5;
const MAX_ITEMS = 32;
/** Values in one line, nested ones included. */
const MAX_VALUES = 256;

/**
 * A copy of log fields that may leave the process. The process's secrets are taken out. Values under secret-looking
 * names are redacted at any depth, as are credentials inside texts. Everything is bounded. Errors keep type, code,
 * message, stack and causes, not the properties that libraries hang on them. Never throws.
 */
export function safeFields(fields: object): Record<string, unknown> {
  try {
    return copyEntries(fields, 1, { left: MAX_VALUES });
  } catch {
    return { fields: "[unreadable]" };
  }
}

/** The text without secrets and credentials in it, at most 1024 characters. */
export function safeText(text: string): string {
  const clean = redact(text.slice(0, MAX_SCANNED))
    .replaceAll(/\/\/[^/\s"'@]*@/g, `//${REDACTED}@`)
    .replaceAll(/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`)
    .replaceAll(/([?&][^=&?\s]*(?:token|key|secret|password|signature)=)[^&\s"']+/gi, `$1${REDACTED}`);
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}…` : clean;
}

interface Budget {
  left: number;
}

function copyEntries(value: object, depth: number, budget: Budget): Record<string, unknown> {
  const entries = Object.entries(value);
  const copy = entries
    .slice(0, MAX_ITEMS)
    .map(([name, it]) => [
      redact(name).slice(0, 128),
      isSecretName(name) && it !== undefined ? REDACTED : copyValue(it, depth, budget),
    ]);
  if (entries.length > MAX_ITEMS) copy.push(["…", `${entries.length - MAX_ITEMS} more`]);
  return Object.fromEntries(copy);
}

const isSecretName = (name: string): boolean => secretName.test(name.toLowerCase().replaceAll(/[-_]/g, ""));

function copyValue(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= 1;
  if (typeof value === "string") return safeText(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return copyError(value, depth, budget);
  if (value instanceof Date || value instanceof URL) return safeText(String(value.toJSON()));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH || budget.left <= 0) return Array.isArray(value) ? "[array]" : "[object]";
  if (Array.isArray(value)) {
    const copy = value.slice(0, MAX_ITEMS).map((item) => copyValue(item, depth + 1, budget));
    return value.length > MAX_ITEMS ? [...copy, `${value.length - MAX_ITEMS} more`] : copy;
  }
  return copyEntries(value, depth + 1, budget);
}

function copyError(error: Error, depth: number, budget: Budget): object {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return {
    type: error.name,
    message: safeText(error.message),
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(typeof error.stack === "string" ? { stack: safeText(error.stack) } : {}),
    ...(cause === undefined || depth >= MAX_DEPTH ? {} : { cause: copyValue(cause, depth + 1, budget) }),
  };
}
