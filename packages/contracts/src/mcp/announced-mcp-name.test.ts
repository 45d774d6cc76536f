import fc from "fast-check";
import { expect, test } from "vitest";
import { announcedMcpName } from "./announced-mcp-name.ts";

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

test("a tool of an MCP server called agent is not announced as a tool of the agent", () => {
  expect(announcedMcpName("agent", "chat")).toMatch(/^agent__chat_[0-9a-f]{8}$/);
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
