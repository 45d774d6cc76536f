import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { busRights, readPolicy } from "@rockbot/policy";
import { busServices, defineService, services } from "@rockbot/services";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { composeFile, composePolicy } from "./deployment-files.ts";

const root = dirname(dirname(import.meta.dirname));
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const agent = defineService({
  name: "agent",
  summary: "Answers people.",
  topic: "tool.invoke.agent",
  tools: ["agent__*"],
  owns: ["user.message"],
  state: ["audit", "leases"],
  isDelegate: true,
  port: 8490,
  profile: "agents",
  egress: ["configured"],
  settings: () => import("../../services/gateway/src/settings.ts"),
  start: async () => ({ async [Symbol.asyncDispose]() {} }),
});

test("a service that compose lacks is added with its users, keys and volume, and a second time nothing changes", () => {
  const all = [...services, agent];
  const text = composeFile(read("docker-compose.yml"), all, ["cli", "operator"]);
  const compose = parse(text, { merge: true });

  expect(compose.services.agent).toMatchObject({
    image: "rockbot/agent",
    build: { args: { SERVICE: "agent" } },
    profiles: ["agents"],
    cap_drop: ["ALL"],
    environment: { HOST: "0.0.0.0", POLICY_FILE: expect.anything(), REDIS_URL: expect.stringMatching(/^redis:\/\/agent:/) },
    volumes: [expect.stringContaining("policy.yaml"), "agent-audit:/var/lib/rockbot"],
  });
  expect(compose.volumes).toHaveProperty("agent-audit");
  expect(compose.services.redis.command).toContainEqual(expect.stringMatching(/^--user agent on >\S+ ~rockbot:\{leases\}:\* resetchannels -@all /));
  expect(compose.services.definitions.environment).toHaveProperty("ROCKBOT_PASSWORD_AGENT");
  expect(composeFile(text, all, ["cli", "operator"])).toBe(text);
});

test("a user at Redis that reaches more keys than its entry names is mended", () => {
  const text = read("docker-compose.yml");

  expect(composeFile(text.replace("~rockbot:{journal}:*", "~rockbot:*"), services, ["cli", "operator"])).toBe(text);
});

test("a delegate is a caller of the compose policy, and comments stay", () => {
  const text = composePolicy(read("docker/policy.yaml"), [...busServices, agent]);

  expect(parse(text)).toMatchObject({ delegates: ["scheduler", "gateway", "agent"], callers: { agent: { allow: ["*"] }, cli: { allow: ["*"] } } });
  expect(text).toContain("# with the profile scripts");
  expect(composePolicy(text, [...busServices, agent])).toBe(text);
});

test("what a service owns is in the compose policy, and so in its rights; for whom a delegate may call stays as it is", async () => {
  const text = composePolicy(read("docker/policy.yaml").replace(/^delegates: .*$/m, "delegates: [{ user: agent, for: [gateway] }]"), [...busServices, agent]);
  const { document } = await readPolicy(text, "of the test");

  expect(document.services["agent"]).toMatchObject({ topic: "tool.invoke.agent", owns: ["user.message"] });
  expect(document.delegates).toEqual([{ user: "agent", for: ["gateway"] }, "scheduler", "gateway"]);
  const rights = busRights(document);
  for (const { name, topic = [], owns = [] } of [...busServices, agent]) {
    if (topic.length > 0) expect(rights.find(({ user }) => user === name)?.hears).toEqual(expect.arrayContaining([topic, ...owns]));
  }
});
