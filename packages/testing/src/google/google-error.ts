/** An error in the form in which Google's APIs answer it. */
export class GoogleError extends Error {
  override readonly name = "GoogleError";
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  body(): string {
    const { status, message, reason } = this;
    return JSON.stringify({ error: { code: status, message, errors: [{ message, domain: "global", reason }] } });
  }
}

/** @throws {GoogleError} if a parameter is not one of `known` */
export function checkParameters(url: URL, known: readonly string[]): void {
  const strange = [...url.searchParams.keys()].find((name) => !known.includes(name));
  if (strange !== undefined)
    throw new GoogleError(
      400,
      "badRequest",
      `Invalid JSON payload received. Unknown name "${strange}": Cannot bind query parameter.`,
    );
}

/** @throws {GoogleError} unless one of the scopes was granted */
export function checkScopes(granted: readonly string[], ...any: readonly string[]): void {
  const isGranted = any.some((scope) => granted.includes(`https://www.googleapis.com/auth/${scope}`));
  if (!isGranted)
    throw new GoogleError(403, "insufficientPermissions", "Request had insufficient authentication scopes.");
}

/** A JSON object. @throws {GoogleError} if it is none */
export function objectOf(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // answered below
  }
  throw new GoogleError(400, "parseError", "Parse Error");
}

/** @throws {GoogleError} if it is no whole number between */
export function numberOf(
  url: URL,
  name: string,
  { least, most, otherwise }: { readonly least: number; readonly most: number; readonly otherwise: number },
): number {
  const value = Number(url.searchParams.get(name) ?? otherwise);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new GoogleError(
    400,
    "invalidParameter",
    `Invalid value '${url.searchParams.get(name)}'. Values must be within the range: [${least}, ${most}]`,
  );
}
