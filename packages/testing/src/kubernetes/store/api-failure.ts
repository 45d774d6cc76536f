/** The answer to a request that fails, as a `Status` object. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly code: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    { retryAfterSeconds }: { readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): object {
    const { code, reason, message, retryAfterSeconds } = this;
    const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
    return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, ...details, code };
  }
}

export const badRequest = (message: string): ApiFailure => new ApiFailure(400, "BadRequest", message);

export const notFound = (name: string): ApiFailure => new ApiFailure(404, "NotFound", `pods "${name}" not found`);

/** The answer for a path that leads to nothing. */
export const noSuchResource = (): ApiFailure =>
  new ApiFailure(404, "NotFound", "the server could not find the requested resource");

export const alreadyExists = (name: string): ApiFailure =>
  new ApiFailure(409, "AlreadyExists", `pods "${name}" already exists`);

export const conflict = (name: string, why: string): ApiFailure =>
  new ApiFailure(409, "Conflict", `Operation cannot be fulfilled on pods "${name}": ${why}`);

export const forbidden = (name: string, why: string): ApiFailure =>
  new ApiFailure(403, "Forbidden", `pods "${name}" is forbidden: ${why}`);

export const expired = (message: string): ApiFailure => new ApiFailure(410, "Expired", message);
