import { readFileSync } from "node:fs";
import { join } from "node:path";
import { busRights, readPolicy } from "@rockbot/policy";
import { CHART, renderChart, run } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { helm, helmProgram, named, profiles } from "./profiles.ts";

/** The Secrets of which NOTES say that an uninstall leaves them. */
async function leftSecrets(args: readonly string[], values: object): Promise<readonly string[]> {
  const drawn = ["--set", "credentials.drawWithoutCluster=true"]; // a dry run on the client has no cluster to ask
  const options = ["--namespace", "rockbot", "--dry-run=client", ...drawn, ...args, "--values", "-"];
  const output = await run(helmProgram, ["install", "rockbot", CHART, ...options], {
    timeoutMs: 60_000,
    input: JSON.stringify(values),
  });
  const notes = output.slice(output.indexOf("\nNOTES:"));
  return [...notes.matchAll(/^ {2}- Secret (.+)$/gm)].map(([, name = ""]) => name).sort();
}

describe.skipIf("why" in helm)(named("the broker and Redis of a release"), () => {
  test("have a password for every user that the policy gives rights", async () => {
    const file = join(CHART, "files/policy.yaml");
    const { document } = await readPolicy(readFileSync(file, "utf8"), file);
    const extra =
      "callers: { someone: {}, other: { user: other-1 }, reached: { user: null, tokens: [] } }\ndelegates: [{ user: two, for: [someone] }, one]\n";
    const [own, given] = await Promise.all([
      renderChart(helmProgram),
      renderChart(helmProgram, [], { policy: { text: extra } }),
    ]);
    const users = (objects: typeof own) => {
      const secret = objects.find(({ kind, metadata }) => kind === "Secret" && metadata.name.endsWith("-passwords"));
      return Object.keys((secret as unknown as { readonly stringData: object }).stringData);
    };

    expect(users(own)).toEqual(expect.arrayContaining(busRights(document).map(({ user }) => user)));
    expect(users(given)).toEqual(expect.arrayContaining(["someone", "other-1", "one", "two"]));
    expect(users(given)).not.toContain("reached");
  });

  test("may not be several nodes of RabbitMQ whose data goes with their pods", async () => {
    const values = { broker: { replicas: 3, storage: { kind: "emptyDir" } } };
    await expect(renderChart(helmProgram, [], values)).rejects.toThrow(
      /broker\.storage\.kind: expected claim with several nodes/,
    );
  });

  const ofYours = {
    rights: { passwordsSecret: "a" },
    broker: { existingSecret: "b" },
    redis: { existingSecret: "c" },
    defaults: { secrets: { existingSecret: "d" } },
  };
  test.each([
    { name: "by default", args: [], values: {}, count: 4 },
    {
      name: "where services have Secrets of yours",
      args: [],
      values: { defaults: { secrets: { existingSecret: "all" } } },
      count: 3,
    },
    { name: "where all Secrets are yours", args: [], values: ofYours, count: 0 },
    { name: "in production", ...profiles.production, count: 0 },
  ])("leave just the Secrets that NOTES name: $name", async ({ args, values, count }) => {
    const secrets = (await renderChart(helmProgram, args, values)).filter(({ kind }) => kind === "Secret");
    const kept = secrets
      .filter(({ metadata }) => metadata.annotations?.["helm.sh/resource-policy"] === "keep")
      .map(({ metadata }) => metadata.name);

    expect(kept).toHaveLength(count);
    expect(await leftSecrets(args, values)).toEqual(kept.toSorted());
  });

  test("are none that the chart makes in production, also for services that are off", async () => {
    const { agent: _, openrouterMcp: __, ...values } = profiles.production.values as Record<string, unknown>;
    const redis = { kind: "sentinel", existingSecret: "redis-of-ours", image: { digest: `sha256:${"a".repeat(64)}` } };
    const objects = await renderChart(helmProgram, profiles.production.args, { ...values, redis });

    expect(objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
  });

  test("leave nothing that helm keeps where their data goes with their pods", async () => {
    const kept = (objects: Awaited<ReturnType<typeof renderChart>>) =>
      JSON.stringify(objects).split("helm.sh/resource-policy").length - 1;
    expect(kept(await renderChart(helmProgram, ["--values", join(CHART, "values-dev.yaml")]))).toBe(0);
    expect(kept(await renderChart(helmProgram))).toBe(4);
  });
});
