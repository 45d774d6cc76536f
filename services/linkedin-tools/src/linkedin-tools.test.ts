import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { type SitePosting, startLinkedinJobsSite } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema } from "./generated/config.ts";
import { startLinkedinTools } from "./linkedin-tools.ts";

const posting = (number: number, more: Partial<SitePosting> = {}): SitePosting => ({
  id: String(4_000_000_000 + number),
  title: `Engineer ${number} & more`,
  company: "Example GmbH",
  location: "Berlin, Germany",
  posted: "2025-08-01",
  description: "<p>You build <strong>things</strong>.</p><ul><li>One</li><li>Two</li></ul>",
  criteria: { "Seniority level": "Associate", "Employment type": "Full-time" },
  ...more,
});

test("linkedin_jobs gives a page of postings, by the filters of the site", async () => {
  await using system = await start();
  system.site.postings = Array.from({ length: 12 }, (_, i) => posting(i, i === 0 ? { salary: "€70,000" } : {}));
  const input = {
    keywords: "engineer",
    location: "Berlin",
    date_posted: "past_week",
    job_type: ["full_time", "contract"],
    experience: ["associate"],
    remote: ["hybrid"],
  };

  const answer = await system.call("linkedin_jobs", { ...input, sort: "recent" });
  expect(answer.structured?.["jobs"]).toHaveLength(10);
  expect(answer).toMatchObject({
    structured: {
      jobs: expect.arrayContaining([
        { ...found(0), salary: "€70,000", url: `${system.site.url}/jobs/view/4000000000` },
      ]),
      page: 1,
    },
    trust: { level: "untrusted", origin: system.site.url },
  });
  expect(answer.content).toContain("1. Engineer 0 & more · Example GmbH · Berlin, Germany · 2025-08-01 · €70,000\n   ");
  expect(Object.fromEntries(system.site.requests[0]?.query ?? [])).toEqual({
    ...{
      keywords: "engineer",
      location: "Berlin",
      f_TPR: "r604800",
      f_JT: "F,C",
      f_E: "3",
      f_WT: "3",
      sortBy: "DD",
      start: "0",
    },
  });
  expect((await system.call("linkedin_jobs", { keywords: "engineer", page: 2 })).content).toMatch(/^11\. /);
  expect((await system.call("linkedin_jobs", { keywords: "engineer", page: 3 })).content).toBe(
    "No jobs found on page 3.",
  );
});

test.each([
  (url: string) => `${url}/jobs/view/4000000001`,
  () => "https://de.linkedin.com/jobs/view/engineer-at-example-4000000001?refId=12",
  () => "https://www.linkedin.com/jobs/search/?currentJobId=4000000001&keywords=x",
  () => "4000000001",
])("linkedin_job_detail reads a posting by an address of it: %s", async (address) => {
  await using system = await start();
  system.site.postings = [posting(1)];

  const answer = await system.call("linkedin_job_detail", { url: address(system.site.url) });
  expect(answer).toMatchObject({
    structured: {
      ...found(1),
      posted: "2 weeks ago",
      applicants: "Over 200 applicants",
      criteria: { "Seniority level": "Associate", "Employment type": "Full-time" },
    },
  });
  expect(answer.content).toMatch(/^# Engineer 1 & more\n\nExample GmbH · Berlin, Germany/);
  expect(answer.content).toContain("- Employment type: Full-time\n\nYou build things.\n\n- One\n- Two");
});

test.each([
  "https://example.com/jobs/view/4000000001",
  "https://linkedin.com.evil.example/4000000001",
  "https://www.linkedin.com/in/somebody",
  "word",
])("%s is refused as no address of a posting, and nothing is asked", async (url) => {
  await using system = await start();
  await expect(system.call("linkedin_job_detail", { url })).rejects.toMatchObject({ code: "invalid_arguments" });
  expect(system.site.requests).toEqual([]);
});

test("a page that has changed is told as such, and an empty one is not", async () => {
  await using system = await start();
  const long = "Some words of a page that has quite another form now. ".repeat(10);
  for (const body of [
    `<div class="base-search-card">A job</div>`,
    `<main><p>${long}</p></main>`,
    "<main>Prove that you are a person</main>",
  ]) {
    system.site.faults.push({ status: 200, body });
    await expect(system.call("linkedin_jobs", { keywords: body.slice(0, 30) })).rejects.toMatchObject({
      code: "execution_failed",
      details: { reason: "page_changed" },
    });
  }
  for (const body of ["<ul></ul>", '<section class="no-results"><h1>We could not find a match</h1></section>']) {
    system.site.faults.push({ status: 200, body });
    expect((await system.call("linkedin_jobs", { keywords: "none" })).content).toBe("No jobs found.");
  }
  system.site.faults.push({ status: 200, body: "<html><body>Hello</body></html>" });
  await expect(system.call("linkedin_job_detail", { url: "4000000009" })).rejects.toMatchObject({
    details: { reason: "page_changed" },
  });
});

test("status 400 behind the last page is an empty page, and on the first page an error", async () => {
  await using system = await start();
  for (const _ of [1, 2]) system.site.faults.push({ status: 400 });
  expect(await system.call("linkedin_jobs", { keywords: "engineer", page: 40 })).toMatchObject({
    content: expect.stringMatching(/^No jobs found on page 40\. LinkedIn answers with status 400,/),
    structured: { jobs: [], page: 40 },
  });
  await expect(system.call("linkedin_jobs", { keywords: "engineer" })).rejects.toMatchObject({
    code: "execution_failed",
    details: { status: 400 },
  });
});

test.each([
  [{ status: 429, headers: { "retry-after": "30" } }, "rate_limited", 30_000],
  [{ status: 999 }, "rate_limited", undefined],
  [{ status: 302, headers: { location: "/authwall" } }, "unavailable", undefined],
  [{ status: 503 }, "unavailable", undefined],
  [{ status: 404 }, "execution_failed", undefined],
])("the answer %j of LinkedIn is told as it is", async (fault, code, retryAfterMs) => {
  await using system = await start();
  system.site.faults.push(fault);
  await expect(system.call("linkedin_jobs", { keywords: "x" })).rejects.toMatchObject({ code, retryAfterMs });
});

test("robots.txt is read once, and obeyed where the operator says so", async () => {
  await using system = await start({ LINKEDIN_ROBOTS: "obey" });
  system.site.postings = [posting(1)];
  system.site.robots =
    "User-agent: *\nDisallow: /jobs-guest/jobs/api/seeMoreJobPostings\n\nUser-agent: other\nDisallow: /";

  await expect(system.call("linkedin_jobs", { keywords: "x" })).rejects.toMatchObject({
    code: "denied",
    details: { reason: "robots" },
  });
  expect(await system.call("linkedin_job_detail", { url: "4000000001" })).toMatchObject({
    structured: { id: "4000000001" },
  });
  expect(system.site.requests.map(({ path }) => path)).toEqual([
    "/robots.txt",
    "/jobs-guest/jobs/api/jobPosting/4000000001",
  ]);
});

test("requests go out one after the other, with the time between them that is set, and say what they are", async () => {
  await using system = await start({ LINKEDIN_INTERVAL_MS: "200" });
  system.site.postings = [posting(1), posting(2), posting(3)];
  await Promise.all(
    [1, 2, 3].map((number) => system.call("linkedin_job_detail", { url: String(4_000_000_000 + number) })),
  );

  const times = system.site.requests.map(({ at }) => at);
  expect(times.slice(1).map((at, i) => at - (times[i] ?? 0) >= 150)).toEqual([true, true]);
  expect(system.site.requests[0]?.headers["user-agent"]).toContain("RockBot");
});

test("while LinkedIn wants no request none is made, and callers hear how long", async () => {
  await using system = await start();
  system.site.postings = [posting(1)];
  system.site.faults.push({ status: 429, headers: { "retry-after": "600" } });
  const wanted = {
    code: "rate_limited",
    retryAfterMs: expect.toSatisfy((ms: number) => ms > 500_000 && ms <= 600_000),
  };
  for (const _ of [1, 2])
    await expect(system.call("linkedin_job_detail", { url: "4000000001" })).rejects.toMatchObject(wanted);
  expect(system.site.requests).toHaveLength(1);
});

test("without a decision about robots.txt the tools are not offered, and the service says what to set", async () => {
  await using bus = createMemoryBus();
  await using running = await startLinkedinTools(bus, loadConfig(configSchema, { env: {} }), {
    service: "linkedin-tools",
  });
  expect(running.off?.map(({ tool, reason }) => [tool, reason.includes("LINKEDIN_ROBOTS")])).toEqual([
    ["linkedin_job_detail", true],
    ["linkedin_jobs", true],
  ]);
});

const found = (number: number) => ({
  id: String(4_000_000_000 + number),
  title: `Engineer ${number} & more`,
  company: "Example GmbH",
  location: "Berlin, Germany",
  ...(number === 0 ? { posted: "2025-08-01" } : {}),
});

async function start(env: Readonly<Record<string, string>> = {}) {
  await using started = new AsyncDisposableStack();
  const site = started.use(await startLinkedinJobsSite());
  const config = loadConfig(configSchema, {
    env: { LINKEDIN_ROBOTS: "ignore", LINKEDIN_INTERVAL_MS: "0", LINKEDIN_BASE_URL: site.url, ...env },
  });
  const bus = started.use(createMemoryBus());
  started.use(await startLinkedinTools(bus, config, { service: "linkedin-tools", topic: "tool.invoke.linkedin" }));
  const caller = started.use(await createToolCaller(bus, { agent: "tester" }));
  await caller.discovered();
  const open = started.move();
  return {
    site,
    call: (tool: string, input: object) => caller.call(tool, input),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
