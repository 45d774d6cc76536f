import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redact } from "@rockbot/base/redaction";
import { ConfigError, type Validator } from "@rockbot/contracts";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import type { ConfigSchema } from "./config-schema.ts";
import { loadConfig } from "./load-config.ts";

interface ExampleConfig {
  busUrl: string;
  shutdownGraceMs: number;
  healthPort?: number;
  ratio: number;
  isVerbose: boolean;
  allowAddresses: string[];
  allowPorts: number[];
  limits: { calls?: number; token?: string };
  apiKey?: string;
}

const schema = {
  type: "object",
  additionalProperties: false,
  properties: {
    busUrl: { type: "string", pattern: "^(memory:|amqps?://)", default: "memory:" },
    shutdownGraceMs: { type: "integer", minimum: 1, default: 20_000 },
    healthPort: { type: "integer", minimum: 0, maximum: 65_535 },
    ratio: { type: "number", default: 0.5 },
    isVerbose: { type: "boolean", default: false },
    allowAddresses: { type: "array", items: { type: "string" }, default: [] },
    allowPorts: { type: "array", items: { type: "integer" }, default: [80, 443] },
    limits: {
      type: "object",
      additionalProperties: false,
      default: {},
      properties: { calls: { type: "integer" }, token: { type: "string", minLength: 20, "x-secret": true } },
    },
    apiKey: { type: "string", minLength: 10, "x-secret": true },
  },
};
// The same compiler, with the same options, as the one that generates a service's validator.
const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: true });
ajv.addVocabulary(["x-secret"]);
const config: ConfigSchema<ExampleConfig> = {
  schema,
  validate: ajv.compile(schema) as unknown as Validator<ExampleConfig>,
};

function temporaryFile(name: string, text: string): { path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-config-"));
  const path = join(folder, name);
  writeFileSync(path, text);
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

function faultsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  throw new Error("The configuration was accepted");
}

test("the defaults alone are a configuration, frozen to the bottom", () => {
  const loaded = loadConfig(config, { env: {} });

  expect(loaded).toEqual({
    busUrl: "memory:",
    shutdownGraceMs: 20_000,
    ratio: 0.5,
    isVerbose: false,
    allowAddresses: [],
    allowPorts: [80, 443],
    limits: {},
  });
  expect(() => loaded.allowPorts.push(22)).toThrow(TypeError);
  expect(() => Object.assign(loaded, { busUrl: "amqp://elsewhere" })).toThrow(TypeError);
});

test("options beat the environment, which beats the file, which beats the defaults", () => {
  using file = temporaryFile("config.yaml", "shutdownGraceMs: 1\nhealthPort: 1\nratio: 1\n");
  const loaded = loadConfig(config, {
    env: { HEALTH_PORT: "2", RATIO: "2", CONFIG_FILE: file.path },
    overrides: { ratio: 3, busUrl: undefined },
  });

  expect(loaded).toMatchObject({ busUrl: "memory:", shutdownGraceMs: 1, healthPort: 2, ratio: 3 });
});

test("a file may be JSON, may be empty, and the option names it before CONFIG_FILE", () => {
  using json = temporaryFile("config.json", '{ "allowPorts": [8080] }');
  using empty = temporaryFile("config.yaml", "# nothing set\n");

  expect(loadConfig(config, { env: { CONFIG_FILE: "/nowhere" }, file: json.path }).allowPorts).toEqual([8080]);
  expect(loadConfig(config, { env: { CONFIG_FILE: empty.path } }).allowPorts).toEqual([80, 443]);
});

test("a JSON file may have comments and trailing commas, as editors write it, and its faults keep their place", () => {
  using commented = temporaryFile(
    "config.json",
    '// ports\n{ /* for\n\ttests */\n\t"allowPorts": [8080,], // "ratio": 1\n\t"busUrl": "amqp://host//a",\n}\n',
  );
  using inside = temporaryFile("config.json", '{ // first\n  "ratio": 2 }');
  using broken = temporaryFile("config.json", '{ // first\n  "ratio": 2 "busUrl": 1 }');
  using yaml = temporaryFile("config.yaml", "{ busUrl: amqp://host }");

  expect(loadConfig(config, { env: {}, file: commented.path })).toMatchObject({
    allowPorts: [8080],
    busUrl: "amqp://host//a",
  });
  expect(loadConfig(config, { env: {}, file: inside.path }).ratio).toBe(2);
  expect(loadConfig(config, { env: {}, file: yaml.path }).busUrl).toBe("amqp://host");
  expect(faultsOf(() => loadConfig(config, { env: {}, file: broken.path }))[0]).toMatch(/config.json: line 2, column/);
});

test("variables are read as the schema's types", () => {
  const loaded = loadConfig(config, {
    env: {
      SHUTDOWN_GRACE_MS: " 5 ",
      RATIO: "-1.5",
      IS_VERBOSE: "1",
      ALLOW_ADDRESSES: "10.0.0.0/8, [::1]:80,",
      ALLOW_PORTS: "[1,2]",
      LIMITS: '{"calls":7}',
    },
  });

  expect(loaded).toMatchObject({
    shutdownGraceMs: 5,
    ratio: -1.5,
    isVerbose: true,
    allowAddresses: ["10.0.0.0/8", "[::1]:80"],
    allowPorts: [1, 2],
    limits: { calls: 7 },
  });
  expect(loadConfig(config, { env: { IS_VERBOSE: "false", ALLOW_PORTS: "8080" } })).toMatchObject({
    isVerbose: false,
    allowPorts: [8080],
  });
});

test("empty variables and variables of others are not settings", () => {
  expect(loadConfig(config, { env: { BUS_URL: "", PATH: "/bin", ROCKBOT_UNKNOWN: "1" } }).busUrl).toBe("memory:");
});

test("a secret comes from the file its _FILE variable names, without the last line break, and an empty file is no setting", () => {
  using secret = temporaryFile("api-key", "key-of-a-file\n");
  using empty = temporaryFile("no-key", "\n");

  expect(loadConfig(config, { env: { API_KEY_FILE: secret.path } }).apiKey).toBe("key-of-a-file");
  expect(loadConfig(config, { env: { API_KEY_FILE: empty.path } }).apiKey).toBeUndefined();
  expect(faultsOf(() => loadConfig(config, { env: { API_KEY_FILE: secret.path, API_KEY: "key-of-a-file" } }))).toEqual([
    "apiKey: both the variables API_KEY and API_KEY_FILE are set. Set one of them",
  ]);
  expect(faultsOf(() => loadConfig(config, { env: { API_KEY_FILE: "/nowhere/key" } }))).toEqual([
    "apiKey, from the variable API_KEY_FILE: the file it names cannot be read (ENOENT)",
  ]);
});

test("every fault is told at once, with where it comes from and what was expected", () => {
  using file = temporaryFile(
    "config.yaml",
    'shutdownGraceMs: 0\nbusURL: "memory:"\nlimits: { call: 1 }\nallowPorts: [80, http]\n',
  );
  const load = () =>
    loadConfig(config, {
      env: { HEALTH_PORT: "99999", IS_VERBOSE: "perhaps", CONFIG_FILE: file.path },
      overrides: { busUrl: "http://x" },
    });
  const source = `the file ${file.path}`;

  expect([...faultsOf(load)].sort()).toEqual(
    [
      `${source}: unknown property "busURL": did you mean "busUrl"?`,
      `limits, from ${source}: unknown property "call": did you mean "calls"?`,
      `shutdownGraceMs, from ${source}: expected at least 1, got the number 0`,
      `allowPorts.1, from ${source}: expected integer, got the text "http"`,
      "healthPort, from the variable HEALTH_PORT: expected at most 65535, got the number 99999",
      'isVerbose, from the variable IS_VERBOSE: expected boolean, got the text "perhaps"',
      'busUrl, from an option: expected text that matches ^(memory:|amqps?://), got the text "http://x"',
    ].sort(),
  );
  expect(load).toThrow(/^Cannot load the configuration: 7 faults\n {2}/);
});

test("a missing value says how to set it", () => {
  const required = {
    type: "object",
    additionalProperties: false,
    required: ["baseUrl"],
    properties: { baseUrl: { type: "string" } },
  };
  const strict: ConfigSchema<object> = {
    schema: required,
    validate: ajv.compile(required) as unknown as Validator<object>,
  };

  expect(faultsOf(() => loadConfig(strict, { env: {} }))).toEqual([
    "baseUrl: is required and missing. Set the variable BASE_URL, or baseUrl in the file",
  ]);
});

test("no fault prints a secret", () => {
  using key = temporaryFile("api-key", "canary");
  using file = temporaryFile("config.yaml", "limits: { token: canary }\n");
  const messages = [
    { env: { API_KEY: "canary" } },
    { env: { API_KEY_FILE: key.path } },
    { env: { LIMITS: '{"token":"canary"' } },
    { env: { LIMITS: '{"token":"canary"}' } },
    { env: { BUS_URL: "ftp://user:canary@host" } },
    { env: {}, file: file.path },
    { env: {}, overrides: { apiKey: ["canary"] } },
  ].map((options) => faultsOf(() => loadConfig(config, options)).join("\n"));

  for (const message of messages) expect(message).not.toMatch(/canary/);
  expect(messages[0]).toBe("apiKey, from the variable API_KEY: expected text of at least 10 characters");
});

test("a file that cannot be used is one fault among the others", () => {
  using broken = temporaryFile("config.yaml", "busUrl: 'memory:\nallowPorts: [80\n");
  using list = temporaryFile("config.yaml", "- 1\n");
  using twice = temporaryFile("config.yaml", "ratio: 1\nratio: 2\n");
  using circle = temporaryFile("config.yaml", "busUrl: &a { b: *a }\n");
  using bomb = temporaryFile(
    "config.yaml",
    ["a: &a [1,2,3,4,5,6,7,8,9]", "b: &b [*a,*a,*a,*a,*a]", "c: &c [*b,*b,*b,*b,*b]", "d: [*c,*c,*c,*c,*c]"].join("\n"),
  );

  expect(faultsOf(() => loadConfig(config, { env: { HEALTH_PORT: "-1" }, file: "/nowhere.yaml" }))).toEqual([
    "the file /nowhere.yaml: cannot be read (ENOENT). Give a readable file or none",
    "healthPort, from the variable HEALTH_PORT: expected at least 0, got the number -1",
  ]);
  expect(faultsOf(() => loadConfig(config, { env: {}, file: broken.path }))[0]).toMatch(
    /config.yaml: line \d+, column \d+: Missing closing 'quote/,
  );
  expect(faultsOf(() => loadConfig(config, { env: {}, file: list.path }))).toEqual([
    `the file ${list.path}: expected a mapping of names to values at the top`,
  ]);
  expect(faultsOf(() => loadConfig(config, { env: {}, file: twice.path }))[0]).toMatch(
    /line 2, column 1: Map keys must be unique/,
  );
  expect(faultsOf(() => loadConfig(config, { env: {}, file: bomb.path }))[0]).toMatch(/more than 100 aliases/);
  expect(faultsOf(() => loadConfig(config, { env: {}, file: circle.path }))).toEqual([
    `the file ${circle.path}: it has an alias of what the alias is a part of`,
  ]);
});

test("a file's __proto__ is an unknown property and changes nothing", () => {
  using file = temporaryFile("config.json", '{ "__proto__": { "busUrl": "amqp://attacker", "polluted": true } }');

  expect(faultsOf(() => loadConfig(config, { env: {}, file: file.path }))[0]).toMatch(/unknown property "__proto__"/);
  expect(Object.prototype).not.toHaveProperty("polluted");
});

test("a section of a shared file is read alone, and unknown sections are faults", () => {
  using file = temporaryFile("shared.yaml", "one: { shutdownGraceMs: 7 }\ntwo: { anything: 1 }\n");
  using wrong = temporaryFile("wrong.yaml", "on: {}\none: [1]\n");
  const section = { name: "one", among: ["one", "two"] };

  expect(loadConfig(config, { env: {}, file: file.path, section }).shutdownGraceMs).toBe(7);
  expect(faultsOf(() => loadConfig(config, { env: {}, file: wrong.path, section }))).toEqual([
    `the file ${wrong.path}: unknown section "on": did you mean "one"?`,
    `the file ${wrong.path}: the section "one": expected a mapping of names to values`,
  ]);
  expect(
    faultsOf(() =>
      loadConfig(config, { env: { SHUTDOWN_GRACE_MS: "0" }, file: file.path, section: { ...section, name: "two" } }),
    ),
  ).toEqual([
    expect.stringContaining(`the section two of the file ${file.path}: unknown property "anything"`),
    expect.stringContaining("shutdownGraceMs, from the variable SHUTDOWN_GRACE_MS"),
  ]);
});

test("a check of what the schema cannot say joins the list, and sees only what is right by itself", () => {
  const seen: unknown[] = [];
  const load = (env: Record<string, string>) =>
    loadConfig(config, {
      env,
      check({ ratio, allowPorts, apiKey }, isFaulty) {
        seen.push([ratio, allowPorts, apiKey, isFaulty("ratio"), isFaulty("apiKey")]);
        return ratio === 2 ? ["ratio: expected less than 2"] : [];
      },
    });

  expect(faultsOf(() => load({ ALLOW_PORTS: "x", RATIO: "2", API_KEY: "short" }))).toEqual([
    expect.stringContaining("allowPorts.0"),
    expect.stringContaining("apiKey"),
    "ratio: expected less than 2",
  ]);
  expect(faultsOf(() => load({ RATIO: "x", API_KEY_FILE: "/nowhere" }))).toEqual([
    expect.stringContaining("apiKey"),
    expect.stringContaining("ratio"),
  ]);
  expect(load({}).ratio).toBe(0.5);
  expect(seen).toEqual([
    [2, undefined, undefined, false, true],
    [undefined, [80, 443], undefined, true, true],
    [0.5, [80, 443], undefined, false, false],
  ]);
});

test("secrets and passwords in URLs become secrets of the process, also of a configuration that is refused", () => {
  const env = {
    API_KEY: "canary-of-config",
    BUS_URL: "amqp://user:canary-of-bus@host",
    LIMITS: '{"token":"canary-too-short","unknown":1}',
  };
  expect(() => loadConfig(config, { env })).toThrow(ConfigError);

  expect(redact("canary-of-config, canary-of-bus, canary-too-short, user, host")).toBe(
    "[redacted], [redacted], [redacted], user, host",
  );
});
