import { type Act, rightNameOf, type User } from "../rights.ts";

/** One request, with what was answered. */
export interface LoggedRequest {
  readonly verb: string;
  /** Such as `pods/log`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly user: string;
  /** Such as `2.0`. */
  readonly httpVersion: string;
  /** On the clock of `performance.now()`. */
  readonly at: number;
  /** Undefined until it is answered, and if it never is. */
  status: number | undefined;
}

export function loggedRequest(user: User, act: Act, httpVersion: string): LoggedRequest {
  const { verb, namespace, name } = act;
  return {
    verb,
    resource: rightNameOf(act).slice(verb.length + 1),
    namespace,
    name,
    user: user.name,
    httpVersion,
    at: performance.now(),
    status: undefined,
  };
}
