import { randomBytes } from "node:crypto";
import { brokerDefinitions } from "@rockbot/bus-rabbitmq";
import { busRights, createPolicy, holdPolicy, type PolicyDocument, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { startOwnBroker, type TestBroker } from "@rockbot/testing";

/** A broker that has the rights of a policy, and nothing else than it. */
export interface VerifiedBroker extends TestBroker {
  readonly policy: PolicyHolder;
  readonly document: PolicyDocument;
  /** The address for a user. */
  urlOf(user: string): string;
  /** Imports once more what the policy grants. */
  importAgain(): Promise<void>;
}

/** Starts a broker of this machine's kind and imports what a policy, as YAML, grants. */
export async function startVerifiedBroker(yaml: string): Promise<VerifiedBroker> {
  const policy = createPolicy(await readPolicy(yaml, "of the test"));
  const users = busRights(policy.document);
  const passwords = new Map(users.map(({ user }) => [user, randomBytes(12).toString("hex")]));
  await using starting = new AsyncDisposableStack();
  const broker = starting.use(await startOwnBroker());
  const importAgain = () => broker.importDefinitions(brokerDefinitions(users, { passwords }));
  await importAgain();
  starting.move();
  return {
    ...broker,
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
