import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { sharedAmqpUrl, sharedRedisUrl, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readSnippets } from "../docs/read-snippets.ts";
import { copyRepository } from "../repository-copy.ts";
import { untilReady } from "./start-service.ts";

const root = dirname(dirname(import.meta.dirname));
const PAGE = "docs/start/first-service.md";

/** The blocks of the page, in its order: the tool's schema, three files and an entry. */
const recipe = readSnippets(PAGE, readFileSync(join(root, PAGE), "utf8"))
  .slice(0, 5)
  .map(({ code }) => `${code}\n`);

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment: Readonly<Record<string, string>>;
        readonly networks?: readonly string[];
        readonly volumes?: readonly string[];
      }
    >
  >;
}

test("a service that is built as docs/start/first-service.md says runs on RabbitMQ, shares its claims, and has its place in compose", {
  timeout: 240_000,
}, async () => {
  const [BUS_URL, REDIS_URL] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);
  using folder = temporaryFolder();
  const { read, write, linkAs } = copyRepository(folder.path);
  const [toolSchema = "", manifest = "", settings = "", start = "", entry = ""] = recipe;
  write("services/echo/package.json", manifest);
  write("services/echo/config.schema.yaml", settings);
  // The effect of the tool is a line of the process, to be counted.
  write(
    "services/echo/src/echo.ts",
    start.replace("async ({ text }) =>", 'async ({ text }) => process.stdout.write("effect " + text + "\\n") &&'),
  );
  write("services/index.ts", read("services/index.ts").replace("\n] as const;", `\n${entry}] as const;`));
  write("packages/contracts/schema/tools/echo.yaml", toolSchema);
  linkAs("services/echo", "services/web-tools");
  for (const stage of ["scripts/generate-code.ts", "scripts/generate.ts"])
    await promisify(execFile)(process.execPath, [stage], { cwd: folder.path });

  const { services } = parse(read("docker-compose.yml"), { merge: true }) as Compose;
  expect(services["echo"]).toMatchObject({
    image: "rockbot/echo",
    networks: ["echo"],
    environment: {
      BUS_URL_FILE: "/run/rockbot/BUS_URL",
      REDIS_URL_FILE: "/run/rockbot/REDIS_URL",
      AUDIT_FILE: expect.anything(),
    },
  });
  expect(services["init"]?.volumes).toContain("echo-secrets:/secrets/echo");
  for (const server of ["rabbitmq", "redis"]) expect(services[server]?.networks).toContain("echo");
  expect(parse(read("docker/policy/policy.yaml"))).toMatchObject({
    services: { echo: { topic: "tool.invoke.echo", tools: ["echo_*"] } },
  });
  expect(read("docs/reference/services.md")).toContain("| `echo` |");

  const env = { BUS_URL, REDIS_URL, PREFIX: "again: " };
  const startEcho = () =>
    untilReady(
      "echo",
      startNodeProgram(join(folder.path, "services/main.ts"), { args: ["echo"], env }),
      '"msg":"ready"',
    );
  await using bus = await connectBus(BUS_URL, { name: "recipe" });
  await using caller = await createToolCaller(bus, { agent: "recipe" });
  const toolCallId = `call-${crypto.randomUUID()}`;
  const call = () => caller.call("echo_text", { text: "one" }, { toolCallId, timeoutMs: 30_000 });
  await using first = await startEcho();
  await caller.discovered();

  expect((await call()).content).toBe("again: one");
  expect(first.stdout()).toContain("effect one");
  first.kill("SIGKILL");
  await first.ended;
  await using second = await startEcho();
  expect((await call()).content).toBe("again: one");
  expect(second.stdout()).not.toContain("effect");
});
