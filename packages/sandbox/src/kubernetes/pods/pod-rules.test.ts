import { expect, test } from "vitest";
import { podRules, scriptPods } from "./pod-rules.ts";
import { podSpec } from "./pod-spec.ts";

const { create, update } = podRules({
  command: ["python3", "-c", "install"],
  program: "install",
  limits: scriptPods.limits,
});
const said = create.map(({ expression }) => expression).join("\n");

test("each field of a pod and of its container has a rule, so that a new one cannot be forgotten", () => {
  const identity = { name: "", owner: "", attempt: "", jobId: "", deadlineMs: 0, activeMs: 0 };
  const { spec } = podSpec(identity, {
    command: [],
    limits: scriptPods.limits,
    packagesBytes: 1,
    serviceAccountName: "a",
    priorityClassName: "b",
    runtimeClassName: "c",
  });
  const [container] = spec?.containers ?? [];
  // The API server leaves these out where they are false, and the rules then refuse them.
  const fields = Object.keys(spec ?? {}).filter(
    (key) => !["hostNetwork", "hostPID", "hostIPC", "containers"].includes(key),
  );

  for (const field of fields) expect(said).toContain(`variables.spec.${field}`);
  for (const field of Object.keys(container ?? {}).filter((key) => key !== "command"))
    expect(said).toContain(`variables.container.${field}`);
});

test("the programs themselves stand in no rule, as they differ from release to release", () => {
  expect(said).toContain("in variables.scriptPrograms");
  expect(said.length).toBeLessThan(30_000);
});

test("a change of a pod is one of its marks", () => {
  expect(update.map(({ expression }) => expression)).toContain("dyn(object.spec) == dyn(oldObject.spec)");
});
