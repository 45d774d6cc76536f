import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { allToolNames } from "@rockbot/contracts";
import { findGlob } from "@rockbot/policy";
import { busServices } from "@rockbot/services";
import { missingNamespaces, ownVirtualHost, temporaryFolder } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logInToGoogle } from "../services/log-in-to-google.ts";
import { startService } from "../services/start-service.ts";
import { calls } from "./calls.ts";
import { ACCOUNT, agentsFile, GOOGLE_CLIENT_ID, restFile, SHOP_KEY, secrets, standIns } from "./stand-ins.ts";
import { testEveryTool } from "./test-every-tool.ts";
import { openWays } from "./ways.ts";

/** Services whose tools other tests call over RabbitMQ. */
const ELSEWHERE: readonly string[] = [
  "web-tools",
  "page-renderer",
  "mcp-bridge",
  "scripts-manager",
  "scheduler",
  "agent",
];

test("the calls have each tool of the services that only serve tools", () => {
  const theirs = busServices.filter(({ name }) => !ELSEWHERE.includes(name)).map(({ tools = [] }) => tools);
  const called = calls.map(({ tool }) => tool);
  const known = allToolNames.filter((name) => theirs.some((globs) => findGlob(globs, name) !== undefined));
  expect(called.filter((name) => allToolNames.includes(name)).sort()).toEqual([...known, "html_to_text"].sort());
  for (const globs of theirs.filter(({ length }) => length > 0))
    expect(called.filter((name) => findGlob(globs, name) !== undefined)).not.toEqual([]);
});

describe("each tool, called once over a broker that its service is connected to", () => {
  let system: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    system = await start();
  }, 240_000);
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
  });
  const noSandbox = missingNamespaces();
  testEveryTool(() => system.ways, { search_files: noSandbox, bash: noSandbox });

  test("no call with effects has run twice", () => {
    const { sent, calendars } = system.google.accounts[ACCOUNT] ?? {};
    const effects = [
      (sent ?? []).map(({ raw }) => /^Subject: Sent by (.*)$/m.exec(raw)?.[1]?.trim()),
      (calendars?.["primary"] ?? []).map(({ summary }) => summary?.replace("Lunch by ", "")),
      system.shop.requests.flatMap(({ method, body }) =>
        method === "POST" ? (JSON.parse(body.toString()) as { name: string }).name : [],
      ),
    ];
    expect(effects[0]?.length).toBeGreaterThan(1);
    for (const by of effects) expect(by).toEqual([...new Set(effects[0])]);
  });
});

/** The gateway and the services, each a process, with the servers that they reach. */
async function start() {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const broker = started.use(await ownVirtualHost());
  const google = started.use(await standIns.google());
  const linkedin = started.use(await standIns.linkedin());
  const anthropic = started.use(await standIns.anthropic());
  const shop = started.use(await standIns.shop());
  const outside = started.use(await standIns.outside());
  const policyFile = folder.write("policy.yaml", 'everyone: { allow: ["*", write_file, edit_file, bash] }\n');
  const work = join(folder.path, "work");
  mkdirSync(work);
  if (process.getuid?.() === 0) chownSync(work, 65_534, 65_534); // commands never have root's rights
  const token = "token-of-the-gateway";
  const settings = {
    gateway: { PORT: "0", GATEWAY_TOKEN: token },
    "web-tools": {},
    "knowledge-tools": { DATA_DIRECTORY: join(folder.path, "knowledge"), OFFER_SEARCH: "true" },
    "linkedin-tools": { LINKEDIN_ROBOTS: "obey", LINKEDIN_BASE_URL: linkedin.url, LINKEDIN_INTERVAL_MS: "0" },
    "anthropic-tools": { ANTHROPIC_BASE_URL: anthropic.url, ANTHROPIC_ADMIN_API_KEY: secrets.ANTHROPIC_ADMIN_API_KEY },
    "google-tools": {
      DATA_DIRECTORY: join(folder.path, "google"),
      ...{
        GOOGLE_CLIENT_ID,
        GOOGLE_CLIENT_SECRET: secrets.GOOGLE_CLIENT_SECRET,
        GOOGLE_TOKEN_KEY: secrets.GOOGLE_TOKEN_KEY,
      },
      ...{
        GMAIL_BASE_URL: google.url,
        CALENDAR_BASE_URL: google.url,
        GOOGLE_TOKEN_BASE_URL: google.url,
        GOOGLE_CONSENT_BASE_URL: google.url,
      },
    },
    "rest-tools": {
      REST_CONFIG: folder.write("rest.json", restFile(shop.url)),
      SHOP_KEY,
      ALLOW_ADDRESSES: `127.0.0.1:${shop.port}`,
    },
    a2a: {
      A2A_AGENTS_FILE: folder.write("well-known-agents.json", agentsFile(outside.url)),
      ALLOW_ADDRESSES: `127.0.0.1:${outside.port}`,
    },
    "workspace-tools": { WORKSPACE_ROOTS: JSON.stringify({ work: { folder: work, writable: true } }) },
  } as const;
  await logInToGoogle(ACCOUNT, { folder: folder.path, env: settings["google-tools"] });
  let url = "";
  for (const [service, env] of Object.entries(settings)) {
    const { stdout } = started.use(
      await startService(service, { BUS_URL: broker.url, POLICY_FILE: policyFile, ...env }),
    );
    if (service === "gateway") url = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout())?.[0] ?? "";
  }
  const ways = started.use(await openWays({ busUrl: broker.url, policyFile, url, token }));
  const parts = started.move();
  return { ways, google, shop, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
