import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runCli } from "../../packages/cli/src/test-cli.ts";
import { verifiedHost } from "./verified-broker.ts";

const POLICY = `
identity: verified
callers:
  porter: { allow: ["*"] }
services:
  agent: { topic: tool.invoke.agent, tools: ["agent__*"], owns: [user.message, user.feedback, user.history.request] }
  web-tools: { topic: tool.invoke.web, tools: ["web_*"] }
`;

test("at a broker with rights, each command without the policy is told of --policy", { timeout: 240_000 }, async () => {
  using folder = temporaryFolder();
  await using broker = await verifiedHost(POLICY);
  for (const args of [["tools"], ["mcp", "ls"]]) {
    const { code, stderr } = await runCli([...args, "--bus", broker.urlOf("porter")], { folder: folder.path });
    expect([code, stderr], args[0]).toEqual([
      1,
      expect.stringMatching(/refused for user 'porter'.*\nrockbot: .* by --policy or POLICY_FILE/s),
    ]);
  }
});
