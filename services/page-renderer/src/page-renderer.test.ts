import { createSocket } from "node:dgram";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createMemoryBus } from "@rockbot/bus";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { badPages, type Page, startPageServer, temporaryFolder } from "@rockbot/testing";
import { type CallOptions, createToolCaller } from "@rockbot/tools";
import { describe, expect, test, vi } from "vitest";
import { configSchema } from "./generated/config.ts";
import { startPageRenderer } from "./page-renderer.ts";

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "Chromium";
const policy = holdPolicy(
  createPolicy(
    await readPolicy("everyone: { allow: ['*'] }\ncallers: { web-tools: { allow: [render_page] } }", "of the test"),
  ),
);

/** The service in front of a site with `pages`, and what asks it. */
async function start(pages: Readonly<Record<string, Page>>, env: Readonly<Record<string, string>> = {}) {
  const started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  vi.stubEnv("TMPDIR", folder.path);
  started.defer(() => void vi.unstubAllEnvs());
  const site = started.use(await startPageServer(pages));
  const isRoot = process.getuid?.() === 0; // for which Chromium has no sandbox
  const config = loadConfig(configSchema, {
    env: {
      BROWSER_PATH: browserPath,
      BROWSER_SANDBOX: String(!isRoot),
      ALLOW_ADDRESSES: `127.0.0.1:${site.port}`,
      PAGE_TIMEOUT_MS: "60000",
      SETTLE_MS: "1500",
      ...env,
    },
  });
  const bus = started.use(createMemoryBus());
  started.use(
    await startPageRenderer(bus, config, { service: "page-renderer", topic: "tool.invoke.renderer", policy }),
  );
  const caller = started.use(await createToolCaller(bus, { agent: "web-tools", policy }));
  const stranger = started.use(await createToolCaller(bus, { agent: "someone", policy }));
  await Promise.all([caller.discovered(), stranger.discovered()]);
  return {
    site,
    stranger,
    render: (path: string, options: CallOptions = {}) =>
      caller.call(
        "render_page",
        { url: path.startsWith("/") ? site.url + path : path },
        { timeoutMs: 120_000, ...options },
      ),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const script = (code: string): string => `<!doctype html><title>T</title><div id=app></div><script>${code}</script>`;
/** Browsers of this test, by the folder that they have as their home. */
const browsers = (): number[] =>
  readdirSync("/proc").flatMap((id) => {
    try {
      return readFileSync(`/proc/${id}/environ`, "utf8").includes(`HOME=${tmpdir()}/rockbot-browser-`)
        ? [Number(id)]
        : [];
    } catch {
      return []; // no process, or one that has ended
    }
  });
const leftFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("rockbot-browser-"));

describe.skipIf(browserPath === undefined)(`a page in ${why}`, { timeout: 180_000 }, () => {
  test("comes as its scripts have made it, for web-tools and for nobody else", async () => {
    await using system = await start(
      {
        "/": script(`fetch("/data").then((r) => r.json()).then(({ words }) => {
        app.innerHTML = "<h1>" + words + "</h1><x-part></x-part>";
        app.lastChild.attachShadow({ mode: "open" }).innerHTML = "<p>In the shadow.</p>";
        history.pushState(null, "", "/there");
      })`),
        "/data": { headers: { "content-type": "application/json" }, body: '{"words":"Made here"}' },
      },
      { SETTLE_MS: "40000" },
    );

    const { content, structured, trust } = await system.render("/");
    expect(content).toMatch(/<h1>Made here<\/h1>.*<template shadowrootmode="open"><p>In the shadow\.<\/p>/);
    expect(structured).toEqual({ url: `${system.site.url}/there`, truncated: false, settled: true });
    expect(trust).toEqual({ level: "untrusted", origin: `${system.site.url}/there` });
    expect(system.stranger.toolsOf("someone").map(({ name }) => name)).not.toContain("render_page");
    await expect(system.stranger.call("render_page", { url: system.site.url })).rejects.toMatchObject({
      code: "denied",
    });
    for (const url of [
      "file:///etc/passwd",
      "view-source:http://example.com/",
      "http://user:pass@example.com/",
      "about:blank",
    ]) {
      await expect(system.render(url)).rejects.toMatchObject({ code: "invalid_arguments" });
    }
  });

  test("reaches nothing that is not public, opens nothing, and leaves nothing behind", async () => {
    await using inside = await startPageServer({ "/": "secret", "/ws": "secret" });
    const place = `127.0.0.1:${inside.port}`;
    const packets: Buffer[] = [];
    const udp = createSocket("udp4").on("message", (packet) => packets.push(packet));
    await new Promise<void>((resolve) => udp.bind(inside.port, "127.0.0.1", resolve));
    const hostile = `<!doctype html><title>T</title>
      <link rel=dns-prefetch href="//${place}"><link rel=preconnect href="http://${place}"><link rel=prefetch href="http://${place}/">
      <link rel=stylesheet href="http://${place}/a.css"><iframe src="http://${place}/"></iframe><iframe src="http://169.254.169.254/latest/meta-data/"></iframe>
      <iframe src="file:///etc/passwd"></iframe><img src="http://[::ffff:127.0.0.1]:${inside.port}/"><object data="http://localhost:${inside.port}/"></object>
      <script src="http://${place}/a.js"></script><a id=get href="/file" download>get</a><p id=app></p>
      <script>
        onbeforeunload = (event) => { event.preventDefault(); return "stay"; };
        const said = [];
        try { alert("a"); said.push(confirm("b"), prompt("c")); } catch {}
        for (let i = 0; i < 200; i++) { try { open("http://${place}/?" + i); } catch {} }
        fetch("http://${place}/", { mode: "no-cors" }).catch(() => said.push("no fetch"));
        fetch("/in", { mode: "no-cors" }).catch(() => said.push("no redirect"));
        const socket = new WebSocket("ws://${place}/ws"); socket.onerror = () => said.push("no socket");
        try { const peer = new RTCPeerConnection({ iceServers: [{ urls: ["stun:${place}", "turn:${place}?transport=tcp"], username: "a", credential: "b" }] }); peer.createDataChannel("a"); peer.createOffer().then((o) => peer.setLocalDescription(o)); } catch {}
        navigator.serviceWorker?.register("/worker.js").then(() => said.push("worker"), () => said.push("no worker"));
        navigator.sendBeacon("http://${place}/");
        document.getElementById("get").click();
        localStorage.seen = (localStorage.seen ?? "") + "x";
        setInterval(() => { app.textContent = "survived " + localStorage.seen + " " + said.join(", "); }, 20);
      </script>`;
    await using system = await start({
      "/": hostile,
      "/in": badPages.redirect(`http://${place}/`),
      "/file": { headers: { "content-type": "application/zip", "content-disposition": "attachment" }, body: "PK" },
      "/worker.js": { headers: { "content-type": "text/javascript" }, body: "onfetch = () => {}" },
    });

    for (let i = 0; i < 2; i++) {
      const { content } = await system.render("/");
      expect(content).toMatch(/survived x /); // once each: nothing is kept from page to page
      expect(content).not.toMatch(/secret|root:/);
    }
    await expect(system.render("/in")).rejects.toMatchObject({ code: "denied" });
    await expect(system.render("http://169.254.169.254/latest/")).rejects.toMatchObject({ code: "denied" });
    await expect(system.render("/file")).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringContaining("download"),
    });
    expect([inside.connections, packets.length]).toEqual([0, 0]);
    udp.close();
    expect(leftFolders()).toEqual([]);
  });

  test("ends with its memory, and one of much text at its bound", async () => {
    await using system = await start(
      {
        "/bomb": script(
          `const held = []; setInterval(() => { const a = new Uint8Array(64e6); for (let i = 0; i < a.length; i += 4096) a[i] = 1; held.push(a); }, 5)`,
        ),
        "/huge": script(
          `for (let i = 0; i < 40000; i++) app.append(Object.assign(document.createElement("p"), { textContent: "word ".repeat(5) }))`,
        ),
      },
      { PAGE_MEMORY_BYTES: "500000000", MAX_PAGE_BYTES: "200000", SETTLE_MS: "20000" },
    );

    await expect(system.render("/bomb")).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("500000000 bytes of memory"),
    });
    const { content, structured } = await system.render("/huge");
    expect(content).toHaveLength(200_000);
    expect(structured).toMatchObject({ truncated: true });
    expect(leftFolders()).toEqual([]);
  });

  test("that is an error, or no page, or leads to none, is told as that", async () => {
    await using system = await start({
      "/broken": { status: 500, body: "<h1>It broke</h1>" },
      "/gone": { status: 404, body: "<h1>Gone</h1>" },
      "/login": { status: 401, headers: { "www-authenticate": 'Basic realm="x"' }, body: "<h1>Log in</h1>" },
      "/nothing": { status: 404, body: "" },
      "/to-gone": script(`location.replace("/gone")`),
      "/document": { headers: { "content-type": "application/pdf" }, body: "%PDF-1.7" },
      "/blank": '<!doctype html><meta http-equiv=refresh content="0; url=about:blank"><p>Wait.</p>',
      "/blob": script(`location = URL.createObjectURL(new Blob(["<p>made</p>"], { type: "text/html" }))`),
    });

    await expect(system.render("/broken")).rejects.toMatchObject({ code: "unavailable", details: { status: 500 } });
    await expect(system.render("/gone")).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringContaining("there is no such page"),
      trust: undefined,
    });
    await expect(system.render("/login")).rejects.toMatchObject({ code: "execution_failed", details: { status: 401 } });
    await expect(system.render("/nothing")).rejects.toMatchObject({
      code: "execution_failed",
      details: { status: 404 },
    });
    const said = { trust: { level: "untrusted" } };
    await expect(system.render("/to-gone")).rejects.toMatchObject({
      code: "execution_failed",
      details: { status: 404 },
      ...said,
    });
    await expect(system.render("/document")).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringMatching(/application\/pdf, not a page|a download, not a page/),
    });
    await expect(system.render("/blank")).rejects.toMatchObject({
      message: expect.stringContaining("it leads to about:blank, which is not a web page"),
      ...said,
    });
    await expect(system.render("/blob")).rejects.toMatchObject({
      message: expect.stringMatching(/it leads to blob:.*not a web page/),
    });
  });

  test("that opens another program, does not end, or loads itself again comes as far as it is", async () => {
    let visits = 0;
    await using system = await start(
      {
        "/program": script(`location = "mailto:a@example.com"; app.textContent = "still here"`),
        "/endless": badPages.stalled("<!doctype html><title>T</title><p>What came of it."),
        "/again": (_, response) => {
          const again = visits++ === 0 ? "<script>setTimeout(() => location.reload(), 700)</script>" : "";
          response.setHeader("content-type", "text/html");
          response.end(`<!doctype html><p>Visit ${visits}.</p>${again}`);
        },
      },
      { PAGE_TIMEOUT_MS: "24000" },
    );

    expect((await system.render("/program")).content).toContain("still here");
    expect(await system.render("/endless")).toMatchObject({
      content: expect.stringContaining("What came of it."),
      structured: { settled: false },
    });
    expect((await system.render("/again")).content).toMatch(/Visit [12]\./);
  });

  test("whose call is cancelled, or whose browser ends, takes nothing more", async () => {
    await using system = await start(
      { "/": script(`setInterval(() => fetch("/seen"), 100)`), "/seen": "x" },
      { SETTLE_MS: "40000" },
    );
    const seen = () => system.site.requests.filter(({ path }) => path === "/seen").length;
    const stop = new AbortController();

    const cancelled = system.render("/", { signal: stop.signal });
    await expect.poll(seen, { timeout: 60_000 }).toBeGreaterThan(0);
    stop.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "cancelled" });
    await expect.poll(() => [leftFolders(), browsers()], { timeout: 30_000 }).toEqual([[], []]);

    const before = seen();
    const crashed = system.render("/");
    crashed.catch(() => {});
    await expect.poll(seen, { timeout: 60_000 }).toBeGreaterThan(before);
    process.kill(Math.min(...browsers()), "SIGKILL");
    await expect(crashed).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringContaining("its browser ended"),
    });
    expect(leftFolders()).toEqual([]);
  });

  test("whose server says nothing is told as that, and not as slow scripts", async () => {
    await using system = await start({ "/": badPages.silent() }, { PAGE_TIMEOUT_MS: "4000" });

    await expect(system.render("/")).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("did not answer within 4000 ms"),
    });
  });

  test("ends with its time, whatever its scripts do", async () => {
    const windows = script(`for (let i = 0; i < 10000; i++) open("/?" + i)`);
    // Its time holds the start of the browser, which takes seconds on a busy machine.
    await using system = await start(
      { "/endless": script("for (;;) {}"), "/windows": windows },
      { PAGE_TIMEOUT_MS: "15000" },
    );

    const [endless, many] = await Promise.allSettled([system.render("/endless"), system.render("/windows")]);
    expect(endless).toMatchObject({
      status: "rejected",
      reason: { code: "execution_failed", message: expect.stringContaining("15000 ms") },
    });
    if (many.status === "rejected") expect(many.reason).toMatchObject({ code: "execution_failed" });
    expect(system.site.requests.filter(({ path }) => path.startsWith("/?"))).toEqual([]);
    expect(leftFolders()).toEqual([]);
  });
});

test("without a browser nothing is offered, and a browser that cannot be started is told in words", async () => {
  await using none = await start({}, { BROWSER_PATH: "" });
  await using wrong = await start({ "/": "text" }, { BROWSER_PATH: "/bin/false" });

  await expect(none.render("/")).rejects.toMatchObject({ code: "unavailable" });
  await expect(wrong.render("/")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("cannot be started here"),
  });
});
