import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { kubernetesTool } from "../machine/kubernetes-tools.ts";
import { MANAGER_ACCOUNT, RELEASE_NAMESPACE, renderChart, scriptsManifests } from "./chart.ts";
import type { KubeObject, Metadata, PodSpec } from "./store/objects.ts";

type Rendered = KubeObject & {
  readonly spec?: { readonly template?: { readonly metadata: Metadata; readonly spec: PodSpec } };
};

/** What a service of the release reads at its start. */
function settingsOf(rendered: readonly KubeObject[], service: string): Readonly<Record<string, unknown>> {
  const found = rendered.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === `rockbot-${service}`);
  return parse((found as KubeObject & { readonly data: Readonly<Record<string, string>> }).data["config.yaml"] ?? "");
}

const found = await kubernetesTool("helm");
const helm = "program" in found ? found.program : "";
const name = "why" in found ? `the chart (skipped: ${found.why})` : "the chart";

describe.skipIf("why" in found)(name, () => {
  test("renders what a cluster is given for tests of its own", async () => {
    const rendered = await renderChart(helm);
    for (const wanted of scriptsManifests()) {
      const found = rendered.find(
        ({ kind, metadata }) =>
          kind === wanted.kind &&
          metadata.name === wanted.metadata.name &&
          metadata.namespace === wanted.metadata.namespace,
      );
      expect(found).toMatchObject(wanted);
      expect({ ...found, metadata: undefined }).toEqual({ ...wanted, metadata: undefined });
    }
  });

  test("gives rights in the scripts' namespace only, and none to scripts", async () => {
    const rendered = await renderChart(helm);
    const roles = rendered.filter(({ kind }) => kind?.includes("Role"));

    expect(roles.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ["Role", "rockbot-scripts"],
      ["RoleBinding", "rockbot-scripts"],
    ]);
    expect(JSON.stringify(roles)).not.toContain('"rockbot-script"');
  });

  test("runs pods of which the manager's alone has a token", async () => {
    const rendered = (await renderChart(helm)) as readonly Rendered[];
    const templates = rendered.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template]));
    const withToken = templates
      .filter(({ spec }) => spec.automountServiceAccountToken !== false)
      .map(({ spec }) => spec.serviceAccountName);
    expect(withToken).toEqual([MANAGER_ACCOUNT]);
    const accounts = rendered.filter(({ kind }) => kind === "ServiceAccount") as (KubeObject & {
      readonly automountServiceAccountToken?: boolean;
    })[];
    expect(accounts.filter((account) => account.automountServiceAccountToken !== false)).toEqual([]);
  });

  test("hands the manager its settings as they are read", async () => {
    const args = [
      "--set",
      "scripts.namespace.name=elsewhere",
      "--set",
      "scriptsManager.settings.kubernetesScheduleMs=1200000",
      "--set",
      "scriptsManager.settings.memoryMiB=512",
      "--set",
      "scripts.runtimeClassName=gvisor",
    ];
    const rendered = await renderChart(helm, args);

    expect(settingsOf(rendered, "scripts-manager")).toMatchObject({
      runner: "kubernetes",
      kubernetesNamespace: "elsewhere",
      kubernetesRuntimeClass: "gvisor",
      kubernetesScheduleMs: 1_200_000,
      memoryMiB: 512,
    });
    expect(
      rendered.filter(({ metadata }) => metadata.namespace !== undefined).map(({ metadata }) => metadata.namespace),
    ).toEqual(expect.arrayContaining(["elsewhere", RELEASE_NAMESPACE]));
    expect(JSON.stringify(rendered)).not.toContain('"rockbot-scripts"');
  });

  test("gives the manager an index and a place for packages only where a Secret with the index is named", async () => {
    const managerOf = async (...args: readonly string[]) => {
      const rendered = (await renderChart(
        helm,
        args.flatMap((value) => ["--set", value]),
      )) as readonly Rendered[];
      const { spec } =
        rendered.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === MANAGER_ACCOUNT)?.spec
          ?.template ?? {};
      const env = spec?.containers[0]?.env?.filter(({ name }) => /^(PIP|PACKAGES)_/.test(name));
      const { packagesFolder, pipAllow } = settingsOf(rendered, "scripts-manager");
      return { env, packagesFolder, pipAllow, volume: spec?.volumes?.find(({ name }) => name === "packages") };
    };
    expect(await managerOf()).toEqual({ env: [] });

    const named = [
      "scriptsManager.secrets.from.PIP_INDEX_URL.name=index",
      "scriptsManager.secrets.from.PIP_INDEX_URL.key=url",
    ];
    expect(await managerOf(...named, "scriptsManager.settings.pipAllow={numpy,pandas}")).toEqual({
      env: [{ name: "PIP_INDEX_URL_FILE", value: "/etc/rockbot/secrets/PIP_INDEX_URL" }],
      packagesFolder: "/packages/layers",
      pipAllow: ["numpy", "pandas"],
      volume: { name: "packages", emptyDir: { sizeLimit: "10Gi" } },
    });
    const claimed = await managerOf(...named, "scriptsManager.packages.existingClaim=shelf");
    expect(claimed.volume).toEqual({ name: "packages", persistentVolumeClaim: { claimName: "shelf" } });
  });

  test.each([
    ["scripts.admisionPolicy.enabled=true", "admisionPolicy"],
    ["scriptsManager.settings.sandboxCieling=4", "sandboxCieling"],
    ["scriptsManager.settings.sandboxCeiling=0", "sandboxCeiling"],
    ["scriptsManager.settings.runner=local", "runner"],
    ["scriptsManager.settings.pipIndexUrl=https://index.example/simple", "pipIndexUrl"],
  ])("refuses %s, which the manager would not take or the chart decides", async (value, name) => {
    await expect(renderChart(helm, ["--set", value])).rejects.toThrow(name);
  });
});
