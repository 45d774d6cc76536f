import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brokerDefinitions } from "@rockbot/bus-rabbitmq";
import { busRights, createPolicy, readPolicy } from "@rockbot/policy";
import { type TestBroker, type TestRedis, temporaryFolder } from "@rockbot/testing";
import type { Place } from "../contender.ts";
import { benchPolicyText } from "./bench-policy.ts";
import { startOtlpSink } from "./otlp-sink.ts";

/** Gives the broker the users of a policy, and opens what else contenders need. It ends with the stack. */
export async function preparePlace(
  stack: AsyncDisposableStack,
  broker: TestBroker,
  redis: TestRedis,
  policyText = benchPolicyText,
): Promise<Place> {
  const folder = stack.use(await temporaryFolder()).path;
  const policyFile = join(folder, "policy.yaml");
  await writeFile(policyFile, policyText);
  const users = busRights(createPolicy(await readPolicy(policyText, policyFile)).document);
  const passwords = new Map(users.map(({ user }) => [user, randomBytes(12).toString("hex")]));
  await broker.importDefinitions(brokerDefinitions(users, { passwords }));
  const amqpUrl = await broker.directUrl();
  const amqpUrls = Object.fromEntries(
    [...passwords].map(([user, password]) => [user, urlFor(amqpUrl, user, password)]),
  );
  return {
    amqpUrl,
    amqpUrls,
    redisUrl: await redis.directUrl(),
    otlpUrl: stack.use(await startOtlpSink()).url,
    policyFile,
    folder,
  };
}

function urlFor(amqpUrl: string, user: string, password: string): string {
  const url = new URL(amqpUrl);
  url.username = user;
  url.password = password;
  return url.href;
}
