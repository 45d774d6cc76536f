import { existsSync } from "node:fs";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, startPageServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const reason = browserPath === undefined ? " (skipped: this machine has no Chromium)" : "";

test.skipIf(browserPath === undefined)(
  `web_browse has a page that needs a browser drawn by page-renderer, and reads what there is while that is away${reason}`,
  { timeout: 240_000 },
  async () => {
    await using broker = await ownVirtualHost();
    using folder = temporaryFolder();
    await using site = await startPageServer({
      "/": `<title>Shop</title><body><div id="root"></div><script src="/app.js"></script>`,
      "/little": `<body><div id="root"></div><script>root.innerHTML = "Sign in"</script>`,
      "/app.js": {
        headers: { "content-type": "text/javascript" },
        body: `root.innerHTML = "<main><h1>Things</h1><p>" + "We sell things to people. ".repeat(20) + "</p></main>"`,
      },
    });
    const policy = "everyone: { allow: ['*'] }\ncallers: { web-tools: { allow: [render_page] } }\n";
    const env = {
      BUS_URL: broker.url,
      POLICY_FILE: folder.write("policy.yaml", policy),
      ALLOW_ADDRESSES: `127.0.0.1:${site.port}`,
    };
    await using _web = await startService("web-tools", { ...env, PAGE_RENDERER: "true" });
    await using bus = await connectBus(broker.url);
    await using caller = await createToolCaller(bus, { agent: "reader", results: "copy" });
    await caller.discovered();
    const browse = (fragment: string) =>
      caller.call("web_browse", { url: `${site.url}/#${fragment}` }, { timeoutMs: 90_000 });

    expect(await browse("before")).toMatchObject({
      content: expect.stringContaining("needs a browser"),
      structured: { needsBrowser: true },
    });
    const isRoot = process.getuid?.() === 0; // for which Chromium has no sandbox
    await using _renderer = await startService("page-renderer", {
      ...env,
      BROWSER_PATH: browserPath ?? "",
      BROWSER_SANDBOX: String(!isRoot),
    });
    await expect
      .poll(async () => (await browse(String(Math.random()))).structured, { timeout: 120_000 })
      .toMatchObject({ needsBrowser: false, title: "Shop" });
    const { content, trust } = await browse("after");
    expect(content).toMatch(/# Things\n\n(We sell things to people\. ?){20}/);
    expect(trust).toEqual({ level: "untrusted", origin: `${site.url}/#after` });
    const little = await caller.call("web_browse", { url: `${site.url}/little` }, { timeoutMs: 90_000 });
    expect(little).toMatchObject({ content: "Sign in", structured: { needsBrowser: false } });
    await expect(caller.call("render_page", { url: site.url })).rejects.toMatchObject({ code: "denied" });
  },
);
