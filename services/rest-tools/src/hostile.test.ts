import { startRecordingServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestRestTools } from "./test-rest-tools.ts";

/** As it stands in the file. */
const place = (name: string): string => `$\{${name}}`;

/** Values that try to leave their place, to climb, to begin another header or parameter, or to reach another host. */
const TRICKS: readonly string[] = [
  "..",
  ".",
  "../..",
  "../admin",
  "..\\admin",
  "%2e%2e",
  "%2e%2e/admin",
  "..%2fadmin",
  "%2e.",
  ".%2E",
  "..;/admin",
  "..%00/",
  "/",
  "//",
  "//evil.example/x",
  "\\\\evil.example\\x",
  "/\\evil.example",
  "@evil.example",
  "@evil.example/x",
  "user:pass@evil.example",
  ":80@evil.example",
  "https://evil.example/",
  "http:evil.example",
  "javascript:alert(1)",
  "?admin=1",
  "&admin=1",
  "#fragment",
  "?",
  "#",
  "&",
  "=",
  "a=b&admin=true",
  ";admin=1",
  "a;b",
  "a,b",
  "x\r\nX-Evil: 1",
  "x\nX-Evil: 1",
  "x\rX-Evil: 1",
  "x\r\n\r\nGET /admin HTTP/1.1\r\nHost: evil.example",
  "x\u0000y",
  "x\u2028y",
  "x\u560d\u560aX-Evil: 1",
  "\u{1f600}",
  "ünïcode",
  "\uff0e\uff0e\uff0fadmin",
  "\ud800",
  " ",
  "\t",
  "+",
  "%",
  "%0d%0aX-Evil:%201",
  "%ff",
  "{id}",
  place("SECRET"),
  place("parameters.other"),
  `"}],"admin":true,"x":[{"`,
  `'; DROP TABLE users; --`,
  "<script>alert(1)</script>",
  '\r\n--boundary\r\nContent-Disposition: form-data; name="admin"\r\n\r\n1',
  "a".repeat(3_000),
];
const PLACES = ["path", "query", "header", "body", "form"] as const;
const SECRET = "the-secret-of-the-file";

const CASES = PLACES.flatMap((where) => TRICKS.map((value) => ({ where, value })));

test(`${CASES.length} hostile values stay in their places, or nothing is sent`, { timeout: 60_000 }, async () => {
  expect(CASES.length).toBeGreaterThanOrEqual(200);
  await using server = await startRecordingServer();
  const parametersSchema = { type: "object", properties: { value: { type: "string" } } };
  const value = place("parameters.value");
  const at = (url: string, more: object = {}) => ({ url: server.url + url, parametersSchema, ...more });
  const tools = {
    path: at(`/items/${value}/end`),
    query: at(`/items?first=1&q=${value}&last=2`),
    header: at("/items", { headers: { "X-Value": `before ${value}` } }),
    body: at("/items", { method: "POST", body: { text: value, fixed: 1 } }),
    form: at("/items", { method: "POST", bodyType: "multipart", body: { text: value, fixed: "1" } }),
  };
  await using rest = await startTestRestTools(
    { environment: ["SECRET"], tools },
    { env: { SECRET }, ports: [server.port] },
  );

  let sent = 0;
  for (const { where, value: given } of CASES) {
    const failure = await rest.caller.call(`rest__${where}`, { value: given }).then(
      () => undefined,
      (error: unknown) => error,
    );
    const requests = server.take();
    const name = `${where} with ${JSON.stringify(given.slice(0, 80))}`;
    if (failure !== undefined) {
      expect.soft(failure, name).toMatchObject({ code: "invalid_arguments" });
      expect.soft(requests, name).toEqual([]);
      continue;
    }
    sent++;
    const [request] = requests;
    if (request === undefined || requests.length !== 1) throw new Error(`${name}: ${requests.length} requests`);
    const { pathname, searchParams } = new URL(request.target, "http://x");
    expect.soft(request.headers.host, name).toBe(`127.0.0.1:${server.port}`);
    expect.soft(Object.keys(request.headers).sort(), name).toEqual(expect.not.arrayContaining(["x-evil"]));
    expect
      .soft(JSON.stringify([request.target, request.rawHeaders, request.body.toString()]), name)
      .not.toContain(SECRET);
    if (where === "path")
      expect
        .soft([decodeURIComponent(/^\/items\/([^/?#]*)\/end$/.exec(request.target)?.[1] ?? "left its place")], name)
        .toEqual([given]);
    else expect.soft(pathname, name).toBe("/items");
    if (where === "query")
      expect.soft([...searchParams], name).toEqual([
        ["first", "1"],
        ["q", given],
        ["last", "2"],
      ]);
    else expect.soft([...searchParams], name).toEqual([]);
    if (where === "header")
      expect
        .soft(request.headers["x-value"], name)
        .toBe(Buffer.from(`before ${given}`.trim(), "latin1").toString("latin1"));
    if (where === "body") expect.soft(JSON.parse(request.body.toString()), name).toEqual({ text: given, fixed: 1 });
    if (where === "form") {
      const form = await new Response(new Uint8Array(request.body), {
        headers: { "content-type": request.headers["content-type"] ?? "" },
      }).formData();
      expect.soft([...form.keys()], name).toEqual(["text", "fixed"]);
    }
  }
  expect(sent).toBeGreaterThan(200);
});
