import { createHash } from "node:crypto";
import { faultServer, temporaryFolder } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe.ts";
import { browserPath } from "./browser-path.ts";
import { openConsole } from "./open-console.ts";

const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "in Chromium";
const TOKEN = "of-researcher";
const POLICY = `
callers:
  researcher:
    tokens: [{ hash: "sha256:${createHash("sha256").update(TOKEN).digest("hex")}" }]
    allow: ["*", mcp_register_server, mcp_unregister_server]
`;
const HOSTILE = "The fault <img src=x onerror=alert(1)> echo, now with more.";

describe.skipIf(browserPath === undefined)(`the page Servers, ${why}`, () => {
  const started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  let system: Awaited<ReturnType<typeof openConsole>>;
  const look = () => system.goTo("servers");
  const decide = async (action: "Approve" | "Reject", what: string, note: string) => {
    const { page } = system;
    await page.getByRole("button", { name: `${action} ${what}` }).click();
    await page.getByLabel("note, for the audit log").fill(note);
    await page.getByRole("button", { name: `Yes, ${action.toLowerCase()}` }).click();
    await page.getByText("Decided.").waitFor();
  };

  beforeAll(async () => {
    const peer = { ...faultServer(), toolsAllowed: ["echo", "redefine"] };
    system = started.use(
      await openConsole({
        POLICY_FILE: folder.write("policy.yaml", POLICY),
        MCP_CONFIG: folder.write("mcp.json", { mcpServers: { peer }, catalogue: { spare: faultServer() } }),
        MCP_LOCK_FILE: `${folder.path}/mcp.lock.json`,
        REGISTRATION: "on",
      }),
    );
    const change = { tool: "echo", description: HOSTILE };
    const answer = await system.call("peer__redefine", change, { authorization: `Bearer ${TOKEN}` });
    expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
  }, 60_000);
  afterAll(() => started.disposeAsync());

  test("a changed tool shows word by word what is new, as text, and is rejected and approved with a note", async () => {
    const { page, faults } = system;
    await look();
    const tool = page.getByRole("region", { name: "tools of peer" });
    await tool.locator("ins").first().waitFor();
    expect((await tool.locator("ins").allTextContents()).join("")).toContain("<img src=x onerror=alert(1)>");
    expect(await tool.locator("del").allTextContents()).not.toContain("fault");
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.getByRole("row").filter({ hasText: "peer" }).textContent()).toMatch(/MCP server.*ready.*11/);

    await decide("Reject", "echo of peer", "Ask its maker.");
    await page.getByText("Nothing waits.").waitFor();
    await page.getByText("What was rejected").click();
    await page.getByText("local has rejected it: Ask its maker.").waitFor();
    await decide("Approve", "echo of peer", "They answered.");
    await expect.poll(() => page.getByRole("row").filter({ hasText: "peer" }).textContent()).toMatch(/ready20/);
    expect(faults).toEqual([]);
  });

  test("an https server is asked for as a caller, and waits for an approval; of a program there is only the text to copy", async () => {
    const { page, faults } = system;
    await look();
    const form = page.getByRole("region", { name: "add an MCP server" });
    await form.getByRole("textbox", { name: "name" }).fill("weather");
    await form.getByRole("textbox", { name: "address" }).fill("https://mcp.example.com/mcp");
    await form.getByLabel("for the caller").selectOption("researcher");
    await form.getByRole("button", { name: "Add the server" }).click();
    await page.getByRole("button", { name: "Yes, call mcp_register_server" }).click();
    await page.getByRole("heading", { name: "researcher asks for the server weather" }).waitFor();
    await decide("Approve", "the server weather of researcher", "");
    await page.getByText("Nothing waits.").waitFor();

    await form.getByLabel("it is").selectOption("true");
    await form.getByRole("textbox", { name: "program" }).fill("/usr/bin/weather");
    await form.getByRole("textbox", { name: "arguments" }).fill("--metric");
    const text = JSON.parse((await form.locator("pre").textContent()) ?? "");
    expect(text).toEqual({ mcpServers: { weather: { command: "/usr/bin/weather", args: ["--metric"] } } });
    expect(faults).toEqual([]);
  });

  test("a server that an agent has registered is listed, and removed once that is confirmed", async () => {
    const { page, call, faults } = system;
    const answer = await call("mcp_register_server", { server_name: "spare" }, { authorization: `Bearer ${TOKEN}` });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("spare")]);
    await look();
    const registered = page.getByRole("region", { name: "the server spare of researcher" });
    expect(await registered.textContent()).toMatch(/entry[\s\S]*Let in by the catalogue/);
    await registered.getByRole("button", { name: "Remove the server spare of researcher" }).click();
    await page.getByText("may not have the same server again for a day").waitFor();
    await page.getByRole("button", { name: "Yes, remove" }).click();
    await page.getByText("Decided.").waitFor();
    await expect.poll(() => registered.count()).toBe(0);
    const again = await call("mcp_register_server", { server_name: "spare" }, { authorization: `Bearer ${TOKEN}` });
    expect(await again.text()).toContain("an operator has refused");
    expect(faults).toEqual([]);
  });

  test.each(["light", "dark"] as const)("with held tools it is fine by axe and on a phone, %s", async (colorScheme) => {
    const { call, openTab } = system;
    const description = `Of the ${colorScheme} theme, ${"long".repeat(60)}.`;
    await call("peer__redefine", { tool: "echo", description }, { authorization: `Bearer ${TOKEN}` });
    const page = await openTab({ colorScheme, bypassCSP: true, viewport: { width: 360, height: 740 } }); // for axe's script
    await system.goTo("servers", page);
    await page.locator("ins").first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
  });
});
