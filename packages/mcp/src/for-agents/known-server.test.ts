import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { knownServer } from "./known-server.ts";
import { ServerIndex } from "./server-index.ts";
import { visibleIndex } from "./visible-index.ts";

test("a server that the caller may use nothing of is not replaced by one that is called alike", async () => {
  const index = new ServerIndex();
  index.apply({
    servers: ["secrets", "secret"].map((serverName) => ({ serverName, toolCount: 1, toolNames: ["read"] })),
    removedServers: [],
  });
  const policy = holdPolicy(
    createPolicy(await readPolicy('everyone: { allow: ["*"], deny: ["secret__*"] }', "policy.yaml")),
  );
  const seen = visibleIndex(index, { policy, tools: { get: () => undefined }, awaits: () => false })("reader");
  expect(() => knownServer(seen, "secret")).toThrow('There is no MCP server "secret": known: secrets');
  expect(() => knownServer(seen, "secretz")).toThrow('did you mean "secrets"?');
});
