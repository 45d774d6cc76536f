import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canRunAs, type SpyReport, spy, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { McpBridgeConfig } from "./generated/config.ts";
import { check } from "./settings.ts";

const UID = 12_345;

/** What a program of a server's entry can find out about a bridge that was started with a secret in its environment. */
async function reportOf(entry: {
  readonly uid?: number;
}): Promise<{ readonly report: SpyReport; readonly bridge: number }> {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  if (entry.uid !== undefined) chownSync(folder.path, entry.uid, entry.uid);
  const secret = randomBytes(16).toString("hex");
  const file = join(folder.path, "report.json");
  const servers = { spy: { ...spy(file, secret), ...entry, cwd: "/", env: { OWN: "yes" } } };
  const env = { MCP_CONFIG: folder.write("mcp.json", { mcpServers: servers }), CANARY_SECRET: secret };
  await using bridge = startNodeProgram(join(import.meta.dirname, "../../main.ts"), { args: ["mcp-bridge"], env });
  await expect.poll(() => existsSync(file), { timeout: 30_000 }).toBe(true);
  return { report: JSON.parse(readFileSync(file, "utf8")) as SpyReport, bridge: bridge.pid };
}

test.runIf(process.platform === "linux" && canRunAs(UID))(
  "a program with a user of its own sees nothing of the bridge's secrets, and cannot touch the bridge",
  { timeout: 60_000 },
  async () => {
    const { report } = await reportOf({ uid: UID });
    expect(report).toEqual({
      uid: UID,
      opened: [],
      seesOpenFiles: false,
      signals: false,
      inheritedSockets: 0,
      found: [],
    });
  },
); // only root may start a program as somebody else, who must be able to read it

test.runIf(process.platform === "linux")(
  "a program under the bridge's own user could read its environment, so the look for it is a real one",
  { timeout: 60_000 },
  async () => {
    const { report, bridge } = await reportOf({});
    expect(report).toMatchObject({
      signals: true,
      inheritedSockets: 0,
      found: expect.arrayContaining([`${bridge}/environ`]),
    });
    expect(report.found).not.toContain("its own environment");
  },
); // elsewhere there is no /proc

test("a user that programs cannot be started as is a fault of the configuration, one's own and root's choice are none", () => {
  const { getuid } = process;
  const faultsAs = (own: number) => {
    process.getuid = () => own;
    return check({ busUrl: "memory:", registrationUid: UID } as McpBridgeConfig, () => false);
  };
  try {
    expect([faultsAs(4_711), faultsAs(UID), faultsAs(0)]).toEqual([
      [expect.stringContaining("registrationUid: only a bridge that runs as root")],
      [],
      [],
    ]);
  } finally {
    process.getuid = getuid as () => number;
  }
});
