import { join } from "node:path";
import { CHART, renderChart, run } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { helm, helmProgram, named } from "./profiles.ts";

/** What helm says, as Argo CD asks it: it has no cluster at hand, and all is new at each rendering. */
const rendered = (...args: readonly string[]): Promise<string> =>
  run(helmProgram, ["template", "rockbot", CHART, "--namespace", "rockbot", ...args], { timeoutMs: 60_000 });
const wanted = [
  "rights.passwordsSecret",
  "broker.existingSecret",
  "redis.existingSecret",
  "gateway.secrets.existingSecret",
];
const ofYours = [
  "rights.passwordsSecret=a",
  "broker.existingSecret=b",
  "redis.existingSecret=c",
  "defaults.secrets.existingSecret=d",
];

describe.skipIf("why" in helm)(named("a chart that is rendered without a cluster to ask"), () => {
  test.each([[[]], [["--values", join(CHART, "values-dev.yaml")]]])(
    "is refused, with the values in whose place it makes up no Secret (%j)",
    async (args) => {
      const error: Error = await rendered(...args).then(
        () => expect.fail(),
        (thrown) => thrown,
      );

      for (const value of wanted) expect(error.message).toContain(`${value}: name a Secret of yours`);
    },
  );

  test("is the same each time where Secrets of yours are named, and makes none", async () => {
    const args = ofYours.flatMap((value) => ["--set", value]);
    const text = await rendered(...args);

    expect(await rendered(...args)).toBe(text);
    expect(text).not.toContain("\nkind: Secret\n");
  });
});

describe.skipIf("why" in helm)(named("a release"), () => {
  test("whose name begins with the same 40 characters as another's shares no object with it, and has no name that is too long", async () => {
    const namesOf = async (release: string) =>
      (await renderChart(helmProgram, [], {}, { release })).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const [west, north] = await Promise.all(
      ["west", "north"].map((place) => namesOf(`platform-engineering-agents-production-europe-${place}`)),
    );
    const shared = west?.filter((name) => north?.includes(name));

    expect(shared).toEqual(["Namespace rockbot-scripts", "NetworkPolicy deny-all", "ServiceAccount rockbot-script"]); // in the namespace that values name
    expect(west?.filter((name) => name.slice(name.indexOf(" ") + 1).length > 63)).toEqual([]);
  });

  test("names no user and no group of pods where its values leave them out", async () => {
    const objects = await renderChart(helmProgram, ["--values", join(CHART, "values-openshift.yaml")]);
    const pods = objects.filter(({ kind }) => /^(Deployment|StatefulSet|Job)$/.test(kind ?? ""));

    expect(JSON.stringify(pods)).not.toMatch(/"(runAsUser|runAsGroup|fsGroup)":/);
    expect(JSON.stringify(pods).match(/"runAsNonRoot":true/g)?.length).toBeGreaterThan(pods.length);
  });

  test("has another rights Job for each change of its template, and one each minute where the broker's users go with its pod", async () => {
    const jobs = async (values: object) =>
      (await renderChart(helmProgram, [], { ...values })).filter(
        ({ kind, metadata }) => /Job$/.test(kind ?? "") && metadata.name.includes("-rights"),
      );
    const changes = [
      { rights: { timeoutSeconds: 100 } },
      { rights: { resources: { requests: { cpu: "70m" } } } },
      { global: { labels: { team: "tools" } } },
    ];
    const names = (await Promise.all([{}, ...changes].map(jobs))).map(([job]) => job?.metadata.name);

    expect(new Set(names).size).toBe(changes.length + 1);
    expect((await jobs({ broker: { storage: { kind: "emptyDir" } } })).map(({ kind }) => kind)).toEqual([
      "Job",
      "CronJob",
    ]);
  });

  test("has its policy checked before anything of it is changed", async () => {
    const text = "callers: { someone: { alow: [] } }";
    const objects = await renderChart(helmProgram, [], { policy: { text } });
    const hooks = objects.filter(
      ({ metadata }) => metadata.annotations?.["helm.sh/hook"] === "pre-install,pre-upgrade",
    );

    expect(hooks.map(({ kind }) => kind)).toEqual(["ConfigMap", "Job"]);
    expect(JSON.stringify(hooks[1])).toContain('"args":["policy","check","/etc/rockbot/policy/policy.yaml"]');
    expect(JSON.stringify(hooks[0])).toContain(text);
  });
});
