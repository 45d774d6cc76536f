/** The answer to a request that fails, as a `Status` object. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly code: number;
  readonly reason: string;
  readonly details: object | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    {
      details,
      retryAfterSeconds,
    }: { readonly details?: object | undefined; readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): object {
    const details =
      this.retryAfterSeconds === undefined
        ? this.details
        : { ...this.details, retryAfterSeconds: this.retryAfterSeconds };
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.reason,
      ...(details === undefined ? {} : { details }),
      code: this.code,
    };
  }
}

/** What is wrong with one field of an object. */
export interface FieldFault {
  readonly reason:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueDuplicate"
    | "FieldValueNotFound";
  readonly field: string;
  readonly message: string;
}

export const badRequest = (message: string): ApiFailure => new ApiFailure(400, "BadRequest", message);

export const notFound = (resource: string, name: string): ApiFailure =>
  new ApiFailure(404, "NotFound", `${resource} "${name}" not found`, { details: { name, kind: resource } });

/** For a path that leads to nothing. */
export const noSuchResource = (): ApiFailure =>
  new ApiFailure(404, "NotFound", "the server could not find the requested resource");

export const alreadyExists = (resource: string, name: string): ApiFailure =>
  new ApiFailure(409, "AlreadyExists", `${resource} "${name}" already exists`, { details: { name, kind: resource } });

export const conflict = (resource: string, name: string, why: string): ApiFailure =>
  new ApiFailure(409, "Conflict", `Operation cannot be fulfilled on ${resource} "${name}": ${why}`, {
    details: { name, kind: resource },
  });

export const forbidden = (resource: string, name: string, why: string): ApiFailure =>
  new ApiFailure(403, "Forbidden", `${resource}${name === "" ? "" : ` "${name}"`} is forbidden: ${why}`, {
    details: { ...(name === "" ? {} : { name }), kind: resource },
  });

export const expired = (message: string): ApiFailure => new ApiFailure(410, "Expired", message);

export const invalid = (kind: string, name: string, faults: readonly FieldFault[]): ApiFailure => {
  const texts = [...new Set(faults.map(({ field, message }) => `${field}: ${message}`))];
  const summary = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new ApiFailure(422, "Invalid", `${kind} "${name}" is invalid: ${summary}`, {
    details: { name, kind, causes: faults },
  });
};
