import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brokerDefinitions } from "@rockbot/bus-rabbitmq";
import { busRights, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = dirname(import.meta.dirname);
const read = (file: string): string => readFileSync(join(root, file), "utf8");

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>>; readonly command?: readonly string[] }>>;
}

test("each process of the compose file is a user of its policy, and each user has a password and rights to topics", async () => {
  const { services } = parse(read("docker-compose.yml"), { merge: true }) as Compose;
  const rights = busRights((await readPolicy(read("docker/policy.yaml"), "docker/policy.yaml")).document);
  const users = rights.map(({ user }) => user);

  const connecting = Object.values(services).flatMap(({ environment }) => /^amqps?:\/\/([^:]+):/.exec(environment?.["BUS_URL"] ?? "")?.[1] ?? []);
  expect(connecting.length).toBeGreaterThan(1);
  expect(new Set(connecting).size).toBe(connecting.length); // nobody shares one
  expect(users).toEqual(expect.arrayContaining(connecting));
  const variables = Object.keys(services["definitions"]?.environment ?? {}).filter((name) => name.startsWith("ROCKBOT_PASSWORD_"));
  expect(variables.sort()).toEqual(users.map((user) => `ROCKBOT_PASSWORD_${user.replaceAll("-", "_").toUpperCase()}`).sort());

  // A user without topic rights for an exchange may publish and bind any key of it.
  const definitions = brokerDefinitions(rights, { passwords: new Map(users.map((user) => [user, "any password"])) }) as {
    readonly topic_permissions: readonly { readonly user: string; readonly exchange: string }[];
    readonly exchanges: readonly { readonly name: string }[];
    readonly users: readonly { readonly name: string; readonly tags: readonly string[] }[];
  };
  const pairs = users.flatMap((user) => definitions.exchanges.map(({ name }) => `${user} ${name}`));
  expect(definitions.topic_permissions.map(({ user, exchange }) => `${user} ${exchange}`).sort()).toEqual(pairs.sort());
  expect(definitions.users.filter(({ name, tags }) => name === "guest" || tags.includes("administrator"))).toEqual([]);
});

test("each process of the compose file that uses Redis is a user there, who reaches some keys only and may not do what is dangerous", () => {
  const { services } = parse(read("docker-compose.yml"), { merge: true }) as Compose;
  const connecting = Object.entries(services).flatMap(([name, { environment }]) => {
    const user = /^rediss?:\/\/([^:]+):/.exec(environment?.["REDIS_URL"] ?? "")?.[1];
    return user === undefined ? [] : [{ name, user }];
  });
  expect(connecting.map(({ user }) => user)).toEqual(connecting.map(({ name }) => name));
  const users = (services["redis"]?.command ?? []).flatMap((argument) => {
    const [, user, rule] = /^--user (\S+) (.*)$/.exec(argument) ?? [];
    return user === undefined || rule === undefined ? [] : [{ user, rule }];
  });
  expect(users.map(({ user }) => user).sort()).toEqual(["default", ...connecting.map(({ user }) => user)].sort());
  for (const { rule } of users) {
    expect(rule).not.toMatch(/~\*|allkeys|[+]@all|[+]@dangerous|[+]@admin/);
    expect(rule).toMatch(/-@all/);
  }
});
