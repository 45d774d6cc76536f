import { readFileSync } from "node:fs";
import { join } from "node:path";
import { matchesTopic } from "@rockbot/bus";
import { expect, test } from "vitest";
import { openRawUser } from "./raw-user.ts";
import { verifiedHost } from "./verified-broker.ts";

const docs = join(import.meta.dirname, "../../docs");
const read = (name: string): string => readFileSync(join(docs, name), "utf8");

/** The cells of the rows of the first table of a document whose first column has this title. */
function rowsOf(document: string, firstColumn: string): string[][] {
  const lines = document.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${firstColumn} |`));
  const rows = lines.slice(start);
  const table = rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith("|")),
  );
  return table
    .filter((line) => !line.startsWith("|---"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const quoted = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? "");

test("the broker grants what the documents say, to each user and for each topic that they name, and nothing else", {
  timeout: 300_000,
}, async () => {
  await using broker = await verifiedHost(read("examples/policy.yaml"));
  const [, ...users] = rowsOf(read("reference/broker-rights.md"), "user");
  const topics = [...new Set(users.flatMap(([, , publishes, hears]) => [...quoted(publishes), ...quoted(hears)]))].map(
    (topic) => topic.replaceAll("*", "any"),
  );
  expect(users.length).toBeGreaterThan(3);
  expect(topics.length).toBeGreaterThan(10);

  const documented: string[] = [];
  const granted: string[] = [];
  for (const [name, , publishes, hears] of users) {
    const [user = ""] = quoted(name);
    await using raw = await openRawUser(broker.urlOf(user));
    for (const topic of topics) {
      if (quoted(publishes).some((pattern) => matchesTopic(pattern, topic)))
        documented.push(`${user} publishes ${topic}`);
      if (quoted(hears).some((pattern) => matchesTopic(pattern, topic))) documented.push(`${user} hears ${topic}`);
      if ((await raw.publish("rockbot", topic)) === "granted") granted.push(`${user} publishes ${topic}`);
      if ((await raw.bind("rockbot", topic)) === "granted") granted.push(`${user} hears ${topic}`);
    }
  }
  expect(granted).toEqual(documented);

  // A caller who may use no tool of a service cannot even ask it.
  const [[, ...tools] = [], ...callers] = rowsOf(read("reference/policy.md"), "caller");
  const owned = tools.map((cell) => quoted(cell)[0]?.startsWith("web_") ?? false);
  const asked = callers.flatMap(([name, ...cells]) => {
    const [caller] = quoted(name);
    const mayUse = cells.some((cell, i) => owned[i] && cell.startsWith("yes"));
    return caller !== undefined && users.some(([user]) => quoted(user)[0] === caller) ? [{ caller, mayUse }] : [];
  });
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter(({ caller, mayUse }) => granted.includes(`${caller} publishes tool.invoke`) !== mayUse)).toEqual(
    [],
  );
});
