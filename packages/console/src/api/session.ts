/** The half of the session that the browser does not send by itself; the other is a cookie that no script can read. */
const VALUE = "rb-console";

/** A request that the gateway refused, in its words. */
export class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "RefusedError";
    this.status = status;
  }
}

/** The gateway could not be reached at all. */
export class AwayError extends Error {
  constructor() {
    super("The gateway does not answer. It may be stopped, or the network is away.");
    this.name = "AwayError";
  }
}

export const isLoggedIn = (): boolean => sessionStorage.getItem(VALUE) !== null;

/** @throws {RefusedError} if the code or the token opens nothing */
export async function logIn(by: { readonly code: string } | { readonly token: string }): Promise<void> {
  const response = await reach("/console/login", {
    method: "POST",
    ...("code" in by
      ? { headers: { "content-type": "application/json" }, body: JSON.stringify({ code: by.code }) }
      : { headers: { authorization: `Bearer ${by.token}` } }),
  });
  const { value } = (await answerOf(response)) as { readonly value: string };
  sessionStorage.setItem(VALUE, value);
}

export async function logOut(): Promise<void> {
  await ask("/console/logout", { method: "POST" }).catch(() => {}); // a session that has ended opens nothing either way
  sessionStorage.removeItem(VALUE);
}

/**
 * Asks the gateway as the operator who is logged in.
 * @throws {RefusedError} @throws {AwayError}
 */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await reach(path, {
    ...init,
    headers: { ...init.headers, "rb-console": sessionStorage.getItem(VALUE) ?? "" },
  });
  if (response.status === 401) sessionStorage.removeItem(VALUE);
  if (!response.ok) await answerOf(response);
  return response;
}

export const askJson = async <T>(path: string, init?: RequestInit): Promise<T> =>
  (await (await ask(path, init)).json()) as T;

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new AwayError();
  }
}

/** @throws {RefusedError} */
async function answerOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const { message, error } = (body ?? {}) as {
    readonly message?: string;
    readonly error?: { readonly message?: string };
  };
  throw new RefusedError(response.status, message ?? error?.message ?? `The gateway answered ${response.status}.`);
}
