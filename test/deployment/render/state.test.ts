import { readFileSync } from "node:fs";
import { join } from "node:path";
import { busRights, readPolicy } from "@rockbot/policy";
import { CHART, renderChart } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { helm, helmProgram, named } from "./profiles.ts";

describe.skipIf("why" in helm)(named("the broker and Redis of a release"), () => {
  test("have a password for every user that the policy gives rights", async () => {
    const file = join(CHART, "files/policy.yaml");
    const { document } = await readPolicy(readFileSync(file, "utf8"), file);
    const extra = "callers: { someone: {}, other: { user: other-1 }, reached: { user: null, tokens: [] } }\ndelegates: [{ user: two, for: [someone] }, one]\n";
    const [own, given] = await Promise.all([renderChart(helmProgram), renderChart(helmProgram, [], { policy: { text: extra } })]);
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
    await expect(renderChart(helmProgram, [], values)).rejects.toThrow(/broker\.storage\.kind: expected claim with several nodes/);
  });

  test("leave nothing that helm keeps where their data goes with their pods", async () => {
    const kept = (objects: Awaited<ReturnType<typeof renderChart>>) => JSON.stringify(objects).split("helm.sh/resource-policy").length - 1;
    expect(kept(await renderChart(helmProgram, ["--values", join(CHART, "values-dev.yaml")]))).toBe(0);
    expect(kept(await renderChart(helmProgram))).toBe(4);
  });
});
