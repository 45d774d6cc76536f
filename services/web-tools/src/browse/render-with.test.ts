import { createMemoryBus } from "@rockbot/bus";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { startPageServer } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools, type Tool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema } from "../generated/config.ts";
import { startWebTools } from "../web-tools.ts";

const shell =
  '<title>Shop</title><meta name="description" content="We sell things."><body><div id="root"></div><script src="/main.js"></script>';

/** web-tools beside a page-renderer that answers with what `draw` gives of an address; undefined: there is none. */
async function start(draw?: (url: string) => { readonly html: string; readonly truncated?: boolean }) {
  await using started = new AsyncDisposableStack();
  const site = started.use(await startPageServer({ "/": shell, "/plain": "<p>Plain." }));
  const policy = holdPolicy(
    createPolicy(
      await readPolicy("everyone: { allow: ['*'] }\ncallers: { web-tools: { allow: [render_page] } }", "of the test"),
    ),
  );
  const bus = started.use(createMemoryBus());
  const drawn: string[] = [];
  const renderPage: Tool = defineTool(tools.renderPage, async ({ url }) => {
    drawn.push(url);
    const { html = "", truncated = false } = draw?.(url) ?? {};
    return {
      content: html,
      structured: { url: `${url}#there`, truncated, settled: true },
      trust: { level: "untrusted", origin: url },
    };
  });
  if (draw !== undefined)
    started.use(
      await serveTools(
        bus,
        { tools: [renderPage] },
        { service: "page-renderer", topic: "tool.invoke.renderer", policy },
      ),
    );
  const config = loadConfig(configSchema, {
    env: { ALLOW_ADDRESSES: `127.0.0.1:${site.port}`, PAGE_RENDERER: "true" },
  });
  started.use(await startWebTools(bus, config, { service: "web-tools", topic: "tool.invoke", policy }));
  const caller = started.use(await createToolCaller(bus, { agent: "tester", policy }));
  await caller.discovered();
  const open = started.move();
  return {
    drawn,
    site,
    browse: (path: string) => caller.call("web_browse", { url: site.url + path }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

test("web_browse reads a page that needs a browser as page-renderer has drawn it, and asks for no other", async () => {
  await using it = await start(() => ({
    html: "<title>Drawn</title><main><h1>Things</h1><p>Made by scripts.</p></main>",
    truncated: true,
  }));
  const at = `${it.site.url}/#there`;

  expect((await it.browse("/plain")).content).toBe("Plain.");
  expect(it.drawn).toEqual([]);
  expect(await it.browse("/")).toMatchObject({
    content: expect.stringMatching(/# Things\n\nMade by scripts\.\n\n\(The page is longer than what is read of one/),
    structured: { url: at, title: "Drawn", truncated: true, needsBrowser: false },
    trust: { level: "untrusted", origin: at },
  });
  expect(it.drawn).toEqual([`${it.site.url}/`]);
});

test.each<[string, () => { html: string }, string]>([
  [
    "fails",
    () => {
      throw new ToolError(ToolErrorCode.TooLarge, "Cannot render it: its browser needs too much memory.");
    },
    "its browser needs too much memory.",
  ],
  ["finds no text", () => ({ html: "<div></div>" }), "It shows no text there either."],
])(
  "web_browse gives what a page holds without its scripts where page-renderer %s, and says why",
  async (_, draw, why) => {
    await using it = await start(draw);
    const { content, structured } = await it.browse("/");

    expect(content).toContain("We sell things.");
    expect(content).toMatch(/\n\n\(A browser was tried, too\. /);
    expect(content).toContain(why);
    expect(structured).toMatchObject({ url: `${it.site.url}/`, needsBrowser: true });
  },
);

test("web_browse gives what a page holds without its scripts where page-renderer is away", async () => {
  await using it = await start();
  const { content, structured } = await it.browse("/");

  expect(content).toContain("We sell things.");
  expect(content).not.toContain("was tried");
  expect(structured).toMatchObject({ needsBrowser: true });
});
