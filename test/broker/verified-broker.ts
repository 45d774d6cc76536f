import { createHash } from "node:crypto";
import { brokerDefinitions } from "@rockbot/bus-rabbitmq";
import {
  busRights,
  createPolicy,
  holdPolicy,
  type PolicyDocument,
  type PolicyHolder,
  type Readers,
  readPolicy,
  type ServiceFacet,
} from "@rockbot/policy";
import { type OwnVirtualHost, ownVirtualHost, startOwnBroker, type TestBroker } from "@rockbot/testing";

/** What has the rights of a policy. */
export interface Verified {
  readonly policy: PolicyHolder<Readers<ServiceFacet>>;
  readonly document: PolicyDocument;
  /** The address for a user. */
  urlOf(user: string): string;
  /** Imports once more what the policy grants. */
  importAgain(): Promise<void>;
}

/** A broker that has the rights of a policy, and nothing else than it. */
export interface VerifiedBroker extends TestBroker, Verified {}

/** Starts a broker of this machine's kind and imports what a policy, as YAML, grants. */
export async function startVerifiedBroker(yaml: string): Promise<VerifiedBroker> {
  await using starting = new AsyncDisposableStack();
  const broker = starting.use(await startOwnBroker());
  const verified = await importRights(yaml, { ...broker, name: "/" });
  starting.move();
  return { ...broker, ...verified };
}

/** A virtual host of one's own with what a policy, as YAML, grants; for tests that change no user. */
export async function verifiedHost(yaml: string): Promise<OwnVirtualHost & Verified> {
  const host = await ownVirtualHost();
  return { ...host, ...(await importRights(yaml, host)) };
}

async function importRights(yaml: string, broker: OwnVirtualHost): Promise<Verified> {
  const policy = createPolicy(await readPolicy(yaml, "of the test"));
  const users = busRights(policy.document);
  // The same for all that know the broker's own: a user of that name may be another host's, too.
  const secret = new URL(broker.url).password;
  const passwords = new Map(
    users.map(({ user }) => [user, createHash("sha256").update(`${secret} ${user}`).digest("hex").slice(0, 24)]),
  );
  const importAgain = () => broker.importDefinitions(brokerDefinitions(users, { passwords, vhost: broker.name }));
  await importAgain();
  return {
    policy: holdPolicy(policy),
    document: policy.document,
    importAgain,
    urlOf(user) {
      const url = new URL(broker.url);
      url.username = user;
      url.password = passwords.get(user) ?? "";
      return url.href;
    },
  };
}
