import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { kubernetesTool } from "../machine/kubernetes-tools.ts";
import { podSecurityViolations } from "./admission/pod-security.ts";
import { CHART, RELEASE_NAMESPACE, renderChart, scriptsManifests } from "./chart.ts";
import type { KubeObject, Metadata, Pod, PodSpec } from "./store/objects.ts";

type Rendered = KubeObject & { readonly spec?: { readonly template?: { readonly metadata: Metadata; readonly spec: PodSpec } } };

const found = await kubernetesTool("helm");
const helm = "program" in found ? found.program : "";
const name = "why" in found ? `the chart (skipped: ${found.why})` : "the chart";

describe.skipIf("why" in found)(name, () => {
  test("renders what the tests' API server is given", async () => {
    const rendered = await renderChart(helm);
    for (const wanted of scriptsManifests()) {
      const found = rendered.find(
        ({ kind, metadata }) => kind === wanted.kind && metadata.name === wanted.metadata.name && metadata.namespace === wanted.metadata.namespace,
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

  test("runs a manager that the restricted profile admits, and that alone has a token", async () => {
    const rendered = (await renderChart(helm)) as readonly Rendered[];
    const templates = rendered.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template]));

    expect(templates).toHaveLength(1);
    for (const template of templates) expect(podSecurityViolations("restricted", template as Pod)).toEqual([]);
    expect(templates[0]?.spec.automountServiceAccountToken).toBe(true);
    const accounts = rendered.filter(({ kind }) => kind === "ServiceAccount") as (KubeObject & { readonly automountServiceAccountToken?: boolean })[];
    expect(accounts.map((account) => account.automountServiceAccountToken)).toEqual([false, false]);
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
    const rendered = (await renderChart(helm, args)) as readonly Rendered[];
    const deployment = rendered.find(({ kind }) => kind === "Deployment");
    const variables = Object.fromEntries((deployment?.spec?.template?.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));

    expect(variables).toMatchObject({
      RUNNER: "kubernetes",
      KUBERNETES_NAMESPACE: "elsewhere",
      KUBERNETES_RUNTIME_CLASS: "gvisor",
      KUBERNETES_SCHEDULE_MS: "1200000",
      MEMORY_MI_B: "512",
    });
    expect(rendered.filter(({ metadata }) => metadata.namespace !== undefined).map(({ metadata }) => metadata.namespace)).toEqual(
      expect.arrayContaining(["elsewhere", RELEASE_NAMESPACE]),
    );
    expect(JSON.stringify(rendered)).not.toContain('"rockbot-scripts"');
  });

  test("gives the manager an index and a place for packages only where a Secret with the index is named", async () => {
    const managerOf = async (...args: readonly string[]) => {
      const rendered = (await renderChart(
        helm,
        args.flatMap((value) => ["--set", value]),
      )) as readonly Rendered[];
      const { spec } = rendered.find(({ kind }) => kind === "Deployment")?.spec?.template ?? {};
      const env = spec?.containers[0]?.env?.filter(({ name }) => /^(PIP|PACKAGES)_/.test(name));
      return { env, volume: spec?.volumes?.find(({ name }) => name === "packages") };
    };
    expect(await managerOf()).toEqual({ env: [], volume: undefined });

    const named = "scriptsManager.packages.indexUrlSecret.name=index";
    expect(await managerOf(named, "scriptsManager.settings.pipAllow={numpy,pandas}")).toEqual({
      env: [
        { name: "PIP_INDEX_URL", valueFrom: { secretKeyRef: { name: "index", key: "pipIndexUrl" } } },
        { name: "PACKAGES_FOLDER", value: "/packages/layers" },
        { name: "PIP_ALLOW", value: '["numpy","pandas"]' },
      ],
      volume: { name: "packages", emptyDir: { sizeLimit: "10Gi" } },
    });
    const claimed = await managerOf(named, "scriptsManager.packages.existingClaim=shelf");
    expect(claimed.volume).toEqual({ name: "packages", persistentVolumeClaim: { claimName: "shelf" } });
  });

  test("does not go on with production values whose digests are missing", async () => {
    const production = ["--values", join(CHART, "values.production.yaml")];
    const digest = `sha256:${"a".repeat(64)}`;
    const filledIn = ["--set", `scriptsManager.image.digest=${digest}`, "--set", `scripts.admissionPolicy.allowedImages={python@${digest}}`];

    await expect(renderChart(helm, production)).rejects.toThrow("digest");
    await expect(renderChart(helm, [...production, ...filledIn])).rejects.toThrow("kubernetesImage");
    const rendered = await renderChart(helm, [...production, ...filledIn, "--set", `scriptsManager.settings.kubernetesImage=python@${digest}`]);
    expect(JSON.stringify(rendered)).toContain(`rockbot/scripts-manager@${digest}`);
    expect(rendered.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ResourceQuota", "LimitRange"]),
    );
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
