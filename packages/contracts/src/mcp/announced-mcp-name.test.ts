import fc from "fast-check";
import { expect, test } from "vitest";
import { announcedMcpName, announcedMcpPrefix } from "./announced-mcp-name.ts";

test("a server and a tool with plain names are joined", () => {
  expect(announcedMcpName("system-info", "disk_info")).toBe("system-info__disk_info");
});

test.each([
  ["my server", "read.file", /^my_server__read_file_[0-9a-f]{8}$/],
  ["s", "x".repeat(100), /^s__x{52}_[0-9a-f]{8}$/],
  ["a__b", "c", /^a__b__c_[0-9a-f]{8}$/],
])("%s and %s get a name that a model's API takes", (server, tool, expected) => {
  expect(announcedMcpName(server, tool)).toMatch(expected);
});

test.each(["agent", "rest", "Router", "subagent", "rest_", "rest__x", "rest..", "agent__rest"])(
  "an MCP server called %s has a prefix of its own, which no rule on our tools means",
  (server) => {
    expect(announcedMcpName(server, "chat")).toMatch(/^(?:agent|rest|router|subagent)_[0-9a-f]{8}__chat$/);
    expect(announcedMcpName(server, "chat").startsWith(announcedMcpPrefix(server))).toBe(true);
  },
);

test("a server that is called as such a prefix is not taken for it", () => {
  const [prefix = ""] = announcedMcpName("rest", "x").split("__");
  expect(announcedMcpName(prefix, "x")).not.toBe(announcedMcpName("rest", "x"));
});

test("no two pairs share a name, and each fits a model's API", () => {
  const name = fc.stringMatching(/^[ab_.é]{1,40}$/);
  fc.assert(
    fc.property(name, name, name, name, (server, tool, otherServer, otherTool) => {
      const [first, second] = [announcedMcpName(server, tool), announcedMcpName(otherServer, otherTool)];
      expect(first).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(first === second).toBe(server === otherServer && tool === otherTool);
    }),
  );
});
