import { gzipSync } from "node:zlib";
import { badPages, type Page, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createPublicFetch } from "../public-fetch.ts";
import { fetchedRobots } from "./fetch-robots.ts";

/** A site with this robots.txt, read by a fetch that asks it. */
async function startSite(robots: Page, pages: Readonly<Record<string, Page>> = {}) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(
    await startPageServer({ "/robots.txt": robots, "/open": "text", "/closed/page": "text", ...pages }),
  );
  const fetch = stack.use(createPublicFetch({ allowAddresses: [`127.0.0.1:${server.port}`] }));
  const { permit } = fetchedRobots(fetch, { setting: "ROBOTS_POLICY", timeoutMs: 1_000 });
  return {
    server,
    async read(path: string) {
      await using response = await fetch(server.url + path, { permit });
      return response.status;
    },
    asked: () => server.requests.map(({ path }) => path),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const rules = {
  headers: { "content-type": "text/plain" },
  body: "User-agent: RockBot\nDisallow: /closed/\n\nUser-agent: *\nDisallow: /\n",
};
const refused = {
  code: "denied",
  message: expect.stringMatching(/robots\.txt forbids it.*ROBOTS_POLICY/),
  details: { reason: "robots" },
};

test("a site's robots.txt is read once, and what it forbids is refused before it is asked for, behind a redirect too", async () => {
  await using site = await startSite(rules, { "/moved": badPages.redirect("/closed/page") });

  expect(await site.read("/open")).toBe(200);
  await expect(site.read("/closed/page")).rejects.toMatchObject(refused);
  await expect(site.read("/moved")).rejects.toMatchObject(refused);
  expect(site.asked()).toEqual(["/robots.txt", "/open", "/moved"]);
});

test("a rule holds for a path however its letters are coded", async () => {
  await using site = await startSite({ body: "User-agent: *\nDisallow: /%63losed/%2f" }, { "/closed/%2F": "text" });

  for (const path of ["/closed/%2F", "/clos%65d/%2f"]) await expect(site.read(path)).rejects.toMatchObject(refused);
  expect(await site.read("/closed/page")).toBe(200);
});

test.each([
  ["is not there", { status: 404 }],
  ["is a page of HTML", "<h1>Welcome</h1>"],
  ["is not text", { body: Buffer.alloc(10_000, 0xff) }],
])("a site whose robots.txt %s allows everything", async (_, robots) => {
  await using site = await startSite(robots as Page);

  expect(await site.read("/closed/page")).toBe(200);
});

test.each([
  ["cannot be had now", { status: 503 } as Page, "unavailable", /status 503/],
  ["does not come", badPages.silent(), "unavailable", /did not come within 1000 ms/],
  ["comes in drops", badPages.dripping(20), "unavailable", /did not come within 1000 ms/],
  ["breaks off", badPages.broken(), "unavailable", /robots\.txt: it broke off\. Without them no page/],
  [
    "breaks off, compressed",
    { headers: { "content-encoding": "gzip" }, body: gzipSync("User-agent: *\nDisallow:\n").subarray(0, -9) },
    "unavailable",
    /it broke off/,
  ],
  ["redirects for ever", badPages.redirect("/robots.txt"), "unavailable", /redirects more than 5 times/],
  [
    "redirects to a private address",
    badPages.redirect("http://169.254.169.254/robots.txt"),
    "denied",
    /not on the public Internet/,
  ],
])(
  "no page is read of a site whose robots.txt %s, and the site is left alone for a while",
  async (_, robots, code, message) => {
    await using site = await startSite(robots);

    await expect(site.read("/open")).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    const asked = site.asked().length;
    await expect(site.read("/open")).rejects.toMatchObject({ code });
    expect(site.asked()).toHaveLength(asked);
  },
);

test("a site that names a shorter wait for its robots.txt is asked again after that", async () => {
  let asked = 0;
  await using site = await startSite((_, response) => {
    if (++asked === 1) response.writeHead(429, { "retry-after": "0" }).end();
    else response.end("User-agent: *\nAllow: /");
  });

  await expect(site.read("/open")).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 0 });
  expect(await site.read("/open")).toBe(200);
});

test("a robots.txt that is huge counts with its beginning, and one whose rules cannot be tried in time forbids what they may be about", async () => {
  await using huge = await startSite({ body: `User-agent: *\nDisallow: /closed/\n${"# more\n".repeat(200_000)}` });
  await using slow = await startSite({ body: `User-agent: *\n${`Disallow: /${"*a".repeat(500)}\n`.repeat(400)}` });

  await expect(huge.read("/closed/page")).rejects.toMatchObject(refused);
  expect(await huge.read("/open")).toBe(200);
  expect(await slow.read("/open")).toBe(200);
  await expect(slow.read(`/${"a".repeat(2_000)}`)).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining("more rules than can be tried"),
  });
});
