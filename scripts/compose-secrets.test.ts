import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { busRights, readPolicy } from "@rockbot/policy";
import { envName } from "@rockbot/process/config";
import { busServices, services } from "@rockbot/services";
import { temporaryFolder } from "@rockbot/testing";
import { describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { initCompose } from "../packages/cli/src/commands/compose.ts";

const root = dirname(import.meta.dirname);
const policy = join(root, "docker/policy/policy.yaml");

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment?: Readonly<Record<string, string | null>>;
        readonly command?: readonly string[];
        readonly volumes?: readonly unknown[];
        readonly networks?: readonly string[];
        readonly depends_on?: Readonly<Record<string, object>>;
      }
    >
  >;
}

interface Definitions {
  readonly users: readonly { readonly name: string; readonly tags: readonly string[] }[];
  readonly exchanges: readonly { readonly name: string }[];
  readonly topic_permissions: readonly { readonly user: string; readonly exchange: string }[];
}

const compose = parse(readFileSync(join(root, "docker-compose.yml"), "utf8"), { merge: true }) as Compose;

/** What `rockbot compose init` hands out, as its container does. */
async function handedOut(given = "") {
  const folder = temporaryFolder();
  folder.write("given.env", given);
  const [file, from, out] = ["kept.env", "given.env", "out"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  const init = () => initCompose({ policy, file, from, out });
  await init();
  const read = (path: string): string => readFileSync(join(out, path), "utf8");
  return { init, out, file, read, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test.each(busServices.flatMap(({ name, needs }) => (needs === undefined ? [] : [[name, envName(needs)] as const])))(
  "%s gets %s, without which it offers no tool",
  (name, variable) => {
    const given = Object.keys(compose.services[name]?.environment ?? {}).flatMap((key) => [
      key,
      key.replace(/_FILE$/, ""),
    ]);
    expect(given).toContain(variable);
  },
);

test("no password and no token stands in docker-compose.yml, neither as a value of the environment nor on a command line", () => {
  for (const { environment = {}, command = [] } of Object.values(compose.services)) {
    const secret = Object.keys(environment).filter((name) =>
      /(PASSWORD|TOKEN|_KEY|BUS_URL|REDIS_URL|PIP_INDEX_URL)$/.test(name),
    );
    expect(secret).toEqual([]);
    expect(command.join(" ")).not.toMatch(/--user|password|local-only/);
  }
});

test("what watches comes with the profile alone, and every service sends its traces to the collector if it finds one", () => {
  const watchers = ["otel-collector", "tempo", "prometheus", "grafana"];
  for (const watcher of watchers)
    expect(compose.services[watcher]).toMatchObject({
      profiles: ["observability"],
      read_only: true,
      cap_drop: ["ALL"],
    });
  for (const { name } of services) {
    for (const watcher of ["otel-collector", "prometheus"]) expect(compose.services[watcher]?.networks).toContain(name);
    const { environment, depends_on: first } = compose.services[name] ?? {};
    expect(environment).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://otel-collector:4318",
      OTLP_IF_FOUND: "true",
    });
    expect(first?.["otel-collector"]).toEqual({ condition: "service_started", required: false });
  }
});

test("each file that a service of compose reads a secret from is handed out into a volume of its own, for its owner alone", async () => {
  using made = await handedOut();
  for (const { name } of services) {
    const { environment = {}, volumes = [] } = compose.services[name] ?? {};
    const files = Object.entries(environment).flatMap(([variable, file]) =>
      variable.endsWith("_FILE") && file?.startsWith("/run/rockbot/") ? file.slice("/run/rockbot/".length) : [],
    );
    expect(readdirSync(join(made.out, name)).sort()).toEqual(expect.arrayContaining(files.sort()));
    for (const file of files) expect(statSync(join(made.out, name, file)).mode & 0o777).toBe(0o400);
    expect(volumes).toContain(`${name}-secrets:/run/rockbot:ro`);
  }
  expect(statSync(made.file).mode & 0o777).toBe(0o600);
});

test("secrets are made up once, are all different, and those that somebody gives count more", async () => {
  using made = await handedOut("ROCKBOT_GATEWAY_TOKEN=chosen-by-somebody\nBRAVE_API_KEY=a-key\n");
  const before = made.read("web-tools/BUS_URL");
  await made.init();

  expect(made.read("web-tools/BUS_URL")).toBe(before);
  expect(made.read("gateway/GATEWAY_TOKEN")).toBe("chosen-by-somebody");
  expect(made.read("web-tools/BRAVE_API_KEY")).toBe("a-key");
  expect(readFileSync(made.file, "utf8")).not.toContain("a-key");
  expect(made.read("agent/MODEL_API_KEY")).toBe("");
  expect(made.read("mcp-bridge/SYSTEM_INFO_TOKEN")).toBe(made.read("system-info-mcp/MCP_TOKEN"));
  const passwords = busServices.map(({ name }) => new URL(made.read(`${name}/BUS_URL`)));
  expect(passwords.map(({ username }) => username)).toEqual(busServices.map(({ name }) => name));
  expect(new Set(passwords.map(({ password }) => password)).size).toBe(busServices.length);
  for (const { password } of passwords) expect(password).toMatch(/^[\w-]{43}$/);
});

test("RabbitMQ gets a user for each name of the policy, with rights to topics, and Redis one for each service, which reaches some keys only", async () => {
  using made = await handedOut();
  const users = busRights((await readPolicy(readFileSync(policy, "utf8"), policy)).document).map(({ user }) => user);
  const definitions = JSON.parse(made.read("rabbitmq/definitions.json")) as Definitions;

  expect(definitions.users.map(({ name }) => name).sort()).toEqual(users.toSorted());
  expect(definitions.users.filter(({ name, tags }) => name === "guest" || tags.includes("administrator"))).toEqual([]);
  // A user without topic rights for an exchange may publish and bind any key of it.
  const pairs = users.flatMap((user) => definitions.exchanges.map(({ name }) => `${user} ${name}`));
  expect(definitions.topic_permissions.map(({ user, exchange }) => `${user} ${exchange}`).sort()).toEqual(pairs.sort());

  const rules = made.read("redis/users.acl").trim().split("\n");
  expect(rules.map((rule) => rule.split(" ")[1]).sort()).toEqual(
    ["default", "probe", ...busServices.map(({ name }) => name)].sort(),
  );
  for (const rule of rules.filter((line) => !line.startsWith("user default on #"))) {
    expect(rule).toContain("-@all");
    expect(rule).not.toMatch(/~\*|allkeys|[+]@all|[+]@dangerous|[+]@admin| >/);
  }
});

test("a chosen password that cannot stand in an address is refused by its name", async () => {
  await expect(handedOut("ROCKBOT_PASSWORD_AGENT=p@ss word\n")).rejects.toThrow(
    "ROCKBOT_PASSWORD_AGENT: expected 8 to 512 letters, digits and -._~",
  );
});

describe("the files that services read again while they run", () => {
  const reloaded: Readonly<Record<string, string>> = {
    MCP_CONFIG: "ROCKBOT_MCP_CONFIG",
    REST_CONFIG: "ROCKBOT_REST_CONFIG",
    A2A_AGENTS_FILE: "ROCKBOT_A2A_AGENTS_FILE",
  };

  test("are mounted by their folder alone, read-only, into just the services that read them", () => {
    const mounts = services.flatMap(({ name }) =>
      (compose.services[name]?.volumes ?? []).flatMap((volume) =>
        typeof volume === "string" ? [`${name} ${volume}`] : [],
      ),
    );
    const fromHere = mounts.filter((mount) => / [.$]/.test(mount) && !mount.includes("ROCKBOT_WORKSPACE"));
    const expected = services.flatMap(({ name, onBus }) => {
      const settings = Object.entries(compose.services[name]?.environment ?? {}).filter(
        ([variable]) => variable in reloaded,
      );
      const named = settings.map(
        ([variable, path]) =>
          `${name} \${${reloaded[variable]}:-.${path?.match(/:-(.*)\}$/)?.[1]?.replace(/^/, "/")}}/..:${path}/..:ro`,
      );
      return [...(onBus ? [`${name} ./docker/policy:/etc/rockbot/policy:ro`] : []), ...named];
    });
    expect(fromHere.sort()).toEqual(expected.sort());
    expect(expected.length).toBe(busServices.length + Object.keys(reloaded).length);
  });

  test("are refused in words where nobody reads them, where one is missing, and where its folder holds more", async () => {
    using folder = temporaryFolder();
    for (const name of ["docker", "folders/mcp", "folders/rest", "folders/a2a/.ssh"])
      mkdirSync(join(folder.path, name), { recursive: true });
    for (const file of [
      "docker/policy.yaml",
      "docker/mcp.json",
      "folders/mcp/other.json",
      "folders/rest/rest.json",
      "folders/a2a/well-known-agents.json",
    ]) {
      folder.write(file, "");
    }
    folder.write("folders/rest/.env.local", "");
    vi.stubEnv("ROCKBOT_REST_CONFIG", "./docker/rest.json");
    const files = {
      file: join(folder.path, "kept.env"),
      from: join(folder.path, "docker/secrets.env"),
      out: join(folder.path, "out"),
    };
    const error: Error = await initCompose({ policy, ...files, folders: join(folder.path, "folders") }).then(
      () => expect.fail(),
      (thrown) => thrown,
    );
    vi.unstubAllEnvs();

    expect(error.message.split("\n").slice(1)).toEqual([
      "docker/policy.yaml: nobody reads it any more. Move it to docker/policy/policy.yaml",
      "docker/mcp.json: nobody reads it any more. Move it to docker/mcp/mcp.json",
      "ROCKBOT_MCP_CONFIG: there is no file docker/mcp/mcp.json",
      expect.stringMatching(
        /^ROCKBOT_REST_CONFIG: .* also .env.local. Move the file into a folder of its own, such as docker\/rest$/,
      ),
      expect.stringMatching(/^ROCKBOT_A2A_AGENTS_FILE: .* also .ssh. Move/),
    ]);
  });
});
