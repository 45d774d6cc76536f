import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Act, isAllowed, rightNameOf, serviceAccountUser, type User } from "./rights.ts";
import { ApiFailure, forbidden } from "./store/api-failure.ts";
import type { ObjectStore } from "./store/object-store.ts";

/** Verbs of streams into pods that nobody has, whatever a Role says. */
const REFUSED_TO_ALL = ["exec", "portforward"];

/** Who there is, what each may, and what each has used of it. */
export class Users {
  readonly #store: ObjectStore;
  readonly #byToken = new Map<string, User>();
  readonly #used = new Map<string, Set<string>>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** @returns the bearer token by which a user is known from now on */
  add(user: User): string {
    const token = randomBytes(16).toString("hex");
    this.#byToken.set(token, user);
    return token;
  }

  addServiceAccount(namespace: string, name: string): string {
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    return this.add({ name: serviceAccountUser(namespace, name), groups });
  }

  /** @throws {ApiFailure} 401 */
  of({ headers }: IncomingMessage): User {
    const user = this.#byToken.get(/^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "");
    if (user === undefined) throw new ApiFailure(401, "Unauthorized", "Unauthorized");
    return user;
  }

  /** @throws {ApiFailure} 403 */
  authorize(user: User, act: Act): void {
    if (REFUSED_TO_ALL.includes(act.subresource) || !isAllowed(this.#store, user, act)) {
      const where = act.namespace === undefined ? "at the cluster scope" : `in the namespace "${act.namespace}"`;
      const [verb, resource] = rightNameOf(act).split(" ");
      throw forbidden(
        act.resource,
        act.name ?? "",
        `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${act.group}" ${where}`,
      );
    }
    this.#used.set(user.name, (this.#used.get(user.name) ?? new Set()).add(rightNameOf(act)));
  }

  /** Such as `get pods/log`, sorted. */
  usedBy(userName: string): readonly string[] {
    return [...(this.#used.get(userName) ?? [])].sort();
  }
}
