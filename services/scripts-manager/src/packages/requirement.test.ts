import { expect, test } from "vitest";
import { parseRequirements } from "./requirement.ts";

const texts = (...requirements: string[]) =>
  parseRequirements(requirements, { maxPackages: 20 }).map(({ text }) => text);

test("names, extras and version clauses are read into one form", () => {
  expect(texts("Foo_Bar", "requests[SOCKS, http2] >= 2.0 , < 3", "numpy==2.3.*", "pandas (~=2.2)")).toEqual([
    "foo-bar",
    "numpy==2.3.*",
    "pandas~=2.2",
    "requests[http2,socks]<3,>=2.0",
  ]);
  expect(texts("a==1!2.0rc1.post3.dev4+local.5", "b!=1.0a1", "A == 1!2.0rc1.post3.dev4+local.5")).toEqual([
    "a==1!2.0rc1.post3.dev4+local.5",
    "b!=1.0a1",
  ]);
});

test("all that is no such thing is refused, each with its reason", () => {
  const wrong = [
    "",
    " ",
    "-r requirements.txt",
    "--index-url=https://evil.test",
    "-e .",
    "./local",
    "/etc/passwd",
    "https://evil.test/x.whl",
    "x @ https://evil.test/x.whl",
    "x; python_version < '3'",
    "x==1; rm -rf /",
    "x $(id)",
    "x\n--no-index",
    "x==1 --pre",
    "x===1",
    "x>=1.*",
    "x==",
    "x==abc",
    "x[",
    "x[]",
    "x[-e]",
    "x,y",
    "_x",
    "x-",
    "né",
    "a".repeat(201),
  ];
  for (const text of wrong) expect(() => texts(text), text).toThrow("Cannot install the packages");
  expect(() => texts("good", "-e .", "./x")).toThrow(/"-e \.".*"\.\/x"/);
  expect(() => parseRequirements(["a", "b"], { maxPackages: 1 })).toThrow("at most 1 packages, got 2");
});
