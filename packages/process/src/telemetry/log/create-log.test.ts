import { registerSecret } from "@rockbot/base/redaction";
import { expect, test } from "vitest";
import { type CreateLogOptions, createLog } from "./create-log.ts";

/** A log and the lines it has written, parsed. */
function logInMemory(options: Partial<CreateLogOptions> = {}) {
  const texts: string[] = [];
  const log = createLog({ write: (line: string) => texts.push(line) }, { service: "test", ...options });
  return { log, texts, lines: () => texts.map((text) => JSON.parse(text) as Record<string, unknown>) };
}

test("a line says what happened, when, and in which service", () => {
  const { log, lines } = logInMemory({ version: "1.2.3" });
  log.info({ tool: "web_browse", bytes: 12n }, "done");
  log.debug({}, "below the level");

  expect(lines()).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: "test",
      version: "1.2.3",
      tool: "web_browse",
      bytes: "12",
      msg: "done",
    },
  ]);
});

test("no line has a name twice, also where an event has a field of the name that every line has", () => {
  const { log, texts, lines } = logInMemory({ version: "1.2.3" });
  log.info({ service: "web-tools", version: "3.11.7", level: 3, msg: "no", time: 1 }, "heard");
  log.child({ service: "web-tools" }).info({}, "heard");

  for (const text of texts)
    for (const name of ["service", "version", "level", "msg", "time"])
      expect(text.split(`"${name}":`).length).toBeLessThanOrEqual(2);
  expect(lines()).toMatchObject([
    { service: "test", event_service: "web-tools", version: "1.2.3", event_version: "3.11.7", msg: "heard" },
    { service: "test" },
  ]);
});

test.each([
  "authorization",
  "Authorization",
  "proxy-authorization",
  "token",
  "accessToken",
  "X-Subscription-Token",
  "apiKey",
  "api_key",
  "password",
  "clientSecret",
  "set-cookie",
  "credentials",
])("the value of %s is redacted at any depth, in child loggers too", (name) => {
  const { log, texts } = logInMemory();
  log.info(
    { [name]: "canary", request: { headers: { [name]: ["canary"] }, list: [{ deep: { [name]: { a: "canary" } } }] } },
    "sent",
  );
  log.child({ peer: { [name]: "canary" } }).info({}, "sent");

  expect(texts.join("")).not.toContain("canary");
  expect(texts.join("")).toContain("[redacted]");
});

test.each([
  ["amqp://user:canary@broker/vhost", "amqp://[redacted]@broker/vhost"],
  ["GET https://x.test/a?q=1&api_key=canary&n=2 failed", "GET https://x.test/a?q=1&api_key=[redacted]&n=2 failed"],
  ["authorization: Bearer canary.canary-canary", "authorization: Bearer [redacted]"],
])("credentials inside %j are redacted in fields, messages and errors", (text, clean) => {
  const { log, lines, texts } = logInMemory();
  log.info({ text }, text);
  log.error(new Error(text, { cause: new Error(text) }));

  expect(texts.join("")).not.toContain("canary");
  expect(lines()[0]).toMatchObject({ text: clean, msg: clean });
  expect(lines()[1]).toMatchObject({ err: { message: clean, cause: { message: clean } }, msg: clean });
});

test("a secret of the process is taken out of fields, names, messages, errors and child loggers, whatever it stands under", () => {
  registerSecret("canary-in-logs");
  const { log, texts } = logInMemory();
  log.info(
    { text: "<canary-in-logs>", "canary-in-logs": 1, list: [{ of: Buffer.from("canary-in-logs").toString("base64") }] },
    "say canary-in-logs",
  );
  log.error(new Error(`${"x".repeat(1015)}canary-in-logs`, { cause: new Error("canary-in-logs") }));
  log.child({ peer: "canary-in-logs" }).info({}, "child");

  expect(texts).toHaveLength(3);
  expect(texts.join("")).not.toMatch(/canary|Y2FuYXJ5/);
});

test("an error keeps type, code, message, stack and causes, not what a library hangs on it", () => {
  const { log, lines } = logInMemory();
  const cause = Object.assign(new TypeError("refused"), { code: "ECONNREFUSED", socket: { canary: 1 } });
  log.error({ err: new Error("Cannot connect", { cause }) }, "failed");

  expect(lines()[0]).toMatchObject({
    err: {
      type: "Error",
      message: "Cannot connect",
      stack: expect.stringContaining("create-log.test.ts"),
      cause: { type: "TypeError", code: "ECONNREFUSED" },
    },
  });
  expect(JSON.stringify(lines())).not.toContain("canary");
});

test("no line exceeds 8 KiB, whatever is logged", () => {
  const { log, texts, lines } = logInMemory();
  const wide = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`key${i}${"k".repeat(500)}`, "\u0000".repeat(5000)]),
  );
  const deep: Record<string, unknown> = { wide, list: Array.from({ length: 10_000 }, () => wide) };
  deep.self = deep;
  log.info({ text: "x".repeat(1_000_000) }, "y".repeat(1_000_000));
  log.info(deep, "\u{1F600}\u0001".repeat(100_000));
  log.error(new Error("z".repeat(1_000_000)));
  log.child({ a: "\u0001".repeat(5000), b: "\u0001".repeat(5000) }).info({}, "child");

  expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(8192);
  expect(lines()).toHaveLength(4);
  expect(lines()[1]).toMatchObject({ level: "info", service: "test", droppedBytes: expect.any(Number) });
});

test("a log call never throws", () => {
  const { log, lines } = logInMemory();
  const hostile = {
    get field(): never {
      throw new Error("no");
    },
  };
  log.info(hostile, "still logged");
  log.info(Object.create(null) as object, "no prototype");
  log.info(
    { f: () => 1, s: Symbol("s"), u: undefined, n: null, date: new Date(NaN), bytes: new Uint8Array(5) },
    "odd values",
  );

  expect(lines().map(({ msg }) => msg)).toEqual(["still logged", "no prototype", "odd values"]);
  expect(lines()[2]).toMatchObject({ n: null, bytes: "[5 bytes]" });
});
