import type {
  DefinedExchange,
  DefinedPermission,
  DefinedPolicy,
  DefinedTopicPermission,
  DefinedUser,
} from "../definitions/broker-definitions.ts";
import { BrokerNotReadyError, type ManagementApi } from "./management-api.ts";

/** What a broker has of what definitions define. Users and their rights are those of all virtual hosts. */
export interface BrokerState {
  /** The user that asks. */
  readonly actor: string;
  readonly hasVhost: boolean;
  readonly users: readonly (Pick<DefinedUser, "name" | "tags"> & Partial<DefinedUser>)[];
  readonly permissions: readonly DefinedPermission[];
  readonly topicPermissions: readonly DefinedTopicPermission[];
  readonly policies: readonly DefinedPolicy[];
  /** The exchanges of the definitions that exist. */
  readonly exchanges: readonly DefinedExchange[];
}

/**
 * @throws {BrokerNotReadyError}
 * @throws {BrokerRefusedError} also if the user may not read it all
 */
export async function readBrokerState(
  api: ManagementApi,
  vhost: string,
  exchanges: readonly string[],
): Promise<BrokerState> {
  const { name: actor } = await needed<{ readonly name: string }>(api, "whoami");
  const users = await needed<readonly DefinedUser[]>(api, "users"); // refuses who is no administrator
  const permissions = await needed<readonly DefinedPermission[]>(api, "permissions");
  const topicPermissions = await needed<readonly DefinedTopicPermission[]>(api, "topic-permissions");
  const host = encodeURIComponent(vhost);
  const hasVhost = (await api.read(`vhosts/${host}`)) !== undefined;
  const found = await Promise.all(
    hasVhost ? exchanges.map((name) => api.read(`exchanges/${host}/${encodeURIComponent(name)}`)) : [],
  );
  return {
    actor,
    hasVhost,
    users: users.map((user) => ({ ...user, tags: tagsOf(user.tags) })),
    permissions,
    topicPermissions,
    policies: hasVhost ? await needed<readonly DefinedPolicy[]>(api, `policies/${host}`) : [],
    exchanges: (found as readonly (DefinedExchange | undefined)[]).filter((exchange) => exchange !== undefined),
  };
}

async function needed<T>(api: ManagementApi, path: string): Promise<T> {
  const found = await api.read(path);
  if (typeof found !== "object" || found === null)
    throw new BrokerNotReadyError("the server there is not the management API of RabbitMQ");
  return found as T;
}

/** Before RabbitMQ 3.9 it was one text, and importing it so is still possible. */
const tagsOf = (tags: readonly string[] | string): readonly string[] =>
  typeof tags === "string" ? tags.split(",").filter((tag) => tag !== "") : tags;
