import { expect, test } from "vitest";
import { createPolicy } from "../policy.ts";
import { policyNotes } from "./policy-notes.ts";
import { readPolicy } from "./read-policy.ts";

const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;
const token = "a1b2c3d4".repeat(8);

test("tokens that have ended are told, and no token that stands in the place of a name", async () => {
  const yaml = `
everyone: { allow: ["${token}"] }
callers:
  late: { tokens: [{ hash: "${hash("1")}", expires: 2020-01-01T00:00:00Z }, { hash: "${hash("2")}", expires: 2030-01-01T00:00:00Z }] }
  good: { tokens: [{ hash: "${hash("3")}" }] }
operators: [{ name: ops, tokens: [{ hash: "${hash("4")}", expires: 2021-01-01T00:00:00Z }] }]
`;
  const { document } = createPolicy(await readPolicy(yaml, "of the test"));
  expect(policyNotes(document, Date.parse("2026-01-01T00:00:00Z"))).toEqual([
    "callers that are not named may use only [64 characters that may be a secret]",
    "nothing is denied after untrusted content was read: set everyone.afterUntrusted to deny tools with effects then",
    "late has a token that ended on 2020-01-01T00:00:00Z, and has 1 more: it is refused",
    "the operator ops has a token that ended on 2021-01-01T00:00:00Z, and has no other: it is refused",
  ]);
});

test.each<[string, readonly string[]]>([
  [
    "{}",
    ["nothing is denied after untrusted content was read: set everyone.afterUntrusted to deny tools with effects then"],
  ],
  ["everyone: { afterUntrusted: { effects: deny } }", []],
  [
    "everyone: { afterUntrusted: { effects: deny } }\ncallers: { a: {}, b: { afterUntrusted: { effects: allow } } }",
    ["may use tools with effects after untrusted content was read: b"],
  ],
  [
    "callers: { a: {}, b: { afterUntrusted: { effects: deny } } }",
    ["only these callers are denied tools with effects after untrusted content was read: b"],
  ],
])("the operator is told where nothing stops a model that obeys untrusted content: %j", async (yaml, expected) => {
  const { document } = await readPolicy(yaml, "of the test");
  expect(policyNotes(document).filter((words) => words.includes("untrusted"))).toEqual(expected);
});

test.each([
  ["the whole file", token],
  ["a caller's name", `callers: { ${token}: { allow: [] } }`],
  ["a setting's name", `${token}: 1`],
  ["a list", `everyone: { allow: { ${token}: 1 } }`],
  ["an operator's name", `operators: [{ name: "${token}", tokens: [] }]`],
  ["what is no YAML", `callers: { a: "${token}`],
])("no fault of a file tells a token that stands there as %s", async (_, yaml) => {
  const error = await readPolicy(yaml, "of the test").catch(
    (thrown: unknown) => thrown as Error & { faults?: readonly string[] },
  );
  expect(error).toBeInstanceOf(Error);
  const told = JSON.stringify([(error as Error).message, (error as { faults?: unknown }).faults]);
  for (let at = 0; at + 12 <= token.length; at++) expect(told).not.toContain(token.slice(at, at + 12));
});
