import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { busRights, readPolicy } from "@rockbot/policy";
import { busServices, defineService, services } from "@rockbot/services";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { composeFile, composePolicy } from "./deployment-files.ts";

const root = dirname(dirname(import.meta.dirname));
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const helper = defineService({
  name: "helper",
  summary: "Answers people.",
  topic: "tool.invoke.helper",
  tools: ["helper_*"],
  owns: ["helper.message"],
  state: ["audit", "data", "leases"],
  isDelegate: true,
  port: 8490,
  profile: "helpers",
  egress: ["configured"],
  settings: () => import("../../services/gateway/src/settings.ts"),
  start: async () => ({ async [Symbol.asyncDispose]() {} }),
});

test("a service that compose lacks is added with its secrets, network and volumes, and a second time nothing changes", () => {
  const all = [...services, helper];
  const secrets = new Map([["helper", ["BUS_URL", "REDIS_URL"]]]);
  const text = composeFile(read("docker-compose.yml"), all, secrets);
  const compose = parse(text, { merge: true });

  expect(compose.services.helper).toMatchObject({
    image: "rockbot/helper",
    build: { args: { SERVICE: "helper" } },
    profiles: ["helpers"],
    cap_drop: ["ALL"],
    environment: {
      HOST: "0.0.0.0",
      POLICY_FILE: expect.anything(),
      REDIS_URL_FILE: "/run/rockbot/REDIS_URL",
      DATA_DIRECTORY: "/var/lib/rockbot/data",
    },
    networks: ["helper", "out"],
    volumes: [
      "./docker/policy:/etc/rockbot/policy:ro",
      "helper-secrets:/run/rockbot:ro",
      "helper-data:/var/lib/rockbot",
    ],
  });
  expect(compose.volumes).toMatchObject({ "helper-data": null, "helper-secrets": null });
  expect(compose.networks.helper).toEqual({ internal: true });
  for (const server of ["rabbitmq", "redis", "otel-collector", "prometheus"])
    expect(compose.services[server].networks).toContain("helper");
  expect(compose.services.init.volumes).toContain("helper-secrets:/secrets/helper");
  expect(composeFile(text, all, secrets)).toBe(text);
});

test("a delegate is a caller of the compose policy, and comments stay", () => {
  const text = composePolicy(read("docker/policy/policy.yaml"), [...busServices, helper]);

  const some = ["scheduler", "agent"].map((user) => ({ user, for: ["cli", "gateway"] }));
  expect(parse(text)).toMatchObject({
    delegates: [...some, "gateway", "helper"],
    callers: { helper: { allow: ["*"] }, cli: { allow: ["*"] } },
  });
  expect(text).toContain("# with the profile scripts");
  expect(composePolicy(text, [...busServices, helper])).toBe(text);
});

test("what a service owns is in the compose policy, and so in its rights; for whom a delegate may call stays as it is", async () => {
  const text = composePolicy(
    read("docker/policy/policy.yaml").replace(/^delegates: .*$/m, "delegates: [{ user: helper, for: [gateway] }]"),
    [...busServices, helper],
  );
  const { document } = await readPolicy(text, "of the test");

  expect(document.services["helper"]).toMatchObject({ topic: "tool.invoke.helper", owns: ["helper.message"] });
  expect(document.delegates).toEqual([{ user: "helper", for: ["gateway"] }, "scheduler", "agent", "gateway"]);
  const rights = busRights(document);
  for (const { name, topic = [], owns = [] } of [...busServices, helper]) {
    if (topic.length > 0)
      expect(rights.find(({ user }) => user === name)?.hears).toEqual(expect.arrayContaining([topic, ...owns]));
  }
});
