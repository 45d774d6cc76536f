import { supervisorSource } from "../../generated/supervisor.ts";
import { defaultSandboxLimits, type SandboxLimits } from "../../sandbox-limits.ts";
import { APP, PodAnnotation, PodLabel, PodState } from "./pod-marks.ts";
import { mebibytes, podSpec, processorsOf } from "./pod-spec.ts";
import { scriptCommand } from "./script-command.ts";

/** A condition in CEL, as a ValidatingAdmissionPolicy takes it, and the words for those whom it refuses. */
export interface PodRule {
  readonly expression: string;
  readonly message: string;
}

/** The conditions under which a policy lets in the pods that `podSpec` makes, and no others. */
export interface PodRules {
  /** The rules refer to them as `variables.NAME`. */
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly create: readonly PodRule[];
  readonly update: readonly PodRule[];
}

/** The pods of one kind: what they run, and what they may use. */
export interface PodKind {
  readonly command: readonly string[];
  /** One of the words of the command, which differs from release to release. */
  readonly program: string;
  readonly limits: SandboxLimits;
}

/** Pods that run scripts; their limits are settings. */
export const scriptPods: PodKind = {
  command: scriptCommand(defaultSandboxLimits, 0),
  program: supervisorSource,
  limits: defaultSandboxLimits,
};

/** Words in the rules that each installation replaces by its own values. Classes are empty where there are none. */
export const PodRuleWord = {
  Images: "@IMAGES@",
  Account: "@ACCOUNT@",
  PriorityClass: "@PRIORITY_CLASS@",
  RuntimeClass: "@RUNTIME_CLASS@",
  /** The user that the manager is for the API server. */
  Manager: "@MANAGER@",
  /** Quantities of a script's container: memory, processors, the node's disk. */
  Memory: "@MEMORY@",
  Processors: "@PROCESSORS@",
  Disk: "@DISK@",
  /** The sizes of a script's folders. */
  Storage: "@STORAGE@",
  Packages: "@PACKAGES@",
} as const;

/** The longest script, its packages on their way, and the time that its pod has waited warm. */
const LONGEST_S = 1_200 + 30 + 240 + 3_600;
const HAS_RUNTIME_CLASS = `"${PodRuleWord.RuntimeClass}" != ""`;

/** What the API server fills in, by key; of a class of priorities it refuses what does not agree with it. */
const specDefaults: Readonly<Record<string, string>> = {
  schedulerName: `"default-scheduler"`,
  serviceAccount: `"${PodRuleWord.Account}"`,
};
const priorityFields = ["priority", "preemptionPolicy"];
/** What it adds of a runtime class. */
const runtimeClassFields = ["overhead", "nodeSelector"];
const containerDefaults: Readonly<Record<string, string>> = {
  terminationMessagePath: `"/dev/termination-log"`,
  terminationMessagePolicy: `"File"`,
};

/**
 * The rules, made of a pod as `podSpec` makes it. Each field is as it is there, but for those named here, which differ
 * from pod to pod. A pod has no others. The policy has two more variables, which are lists of programs: scriptPrograms
 * and installerPrograms.
 */
export function podRules(installer: PodKind): PodRules {
  const kinds = { script: scriptPods, installer };
  const { spec, container, volumes } = samplePod();
  const keys = [...Object.keys(spec), "containers", "volumes", ...Object.keys(specDefaults), ...priorityFields];
  return {
    variables: [
      { name: "spec", expression: "dyn(object.spec)" },
      { name: "container", expression: "dyn(object.spec.containers[0])" },
      { name: "command", expression: "has(variables.container.command) ? variables.container.command : []" },
      { name: "isInstaller", expression: `size(variables.command) == ${installer.command.length}` },
    ],
    create: [
      ...markRules(),
      {
        expression: `object.metadata.labels["${PodLabel.State}"] == "${PodState.Starting}"`,
        message: "a script's pod begins as one that starts",
      },
      {
        expression: `variables.spec.all(key, key in ${literal(keys)} || (${HAS_RUNTIME_CLASS} && key in ${literal(runtimeClassFields)}))`,
        message: `a script's pod has no other fields than ${keys.join(", ")}`,
      },
      ...Object.entries(spec).map(
        ([key, value]) =>
          specRules[key] ?? (key === "tolerations" ? tolerationsRule(value) : fieldRule("spec", key, value)),
      ),
      ...Object.entries(specDefaults).map(([key, value]) => defaultRule("spec", key, value)),
      ...containerRules(container, kinds),
      ...volumeRules(container.volumeMounts, volumes, mebibytes(installer.limits.storageBytes)),
    ],
    update: [
      ...markRules(),
      {
        expression: `!has(request.subResource) || request.subResource == ""`,
        message: "a script's pod gets no ephemeral containers and no other resources",
      },
      {
        expression: "dyn(object.spec) == dyn(oldObject.spec)",
        message: "of a script's pod only labels and annotations change",
      },
      { expression: kept("labels", PodLabel.Job), message: "a script's pod keeps its job" },
      {
        expression: kept("annotations", PodAnnotation.Attempt),
        message: "a script's pod keeps the mark of the attempt that made it",
      },
    ],
  };
}

interface SampleVolume {
  readonly name: string;
  readonly emptyDir: Readonly<Record<string, string>>;
}

interface SampleContainer extends Readonly<Record<string, unknown>> {
  readonly volumeMounts: readonly { readonly name: string }[];
}

/** A pod with all that one may have, as the API server keeps it. */
function samplePod(): {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly container: SampleContainer;
  readonly volumes: readonly SampleVolume[];
} {
  const { spec } = podSpec(
    { name: "", owner: "", attempt: "", jobId: "", deadlineMs: 0, activeMs: 0 },
    {
      command: [],
      limits: { memoryBytes: 1, processes: 1, storageBytes: 1, storageFiles: 1, processors: 1 },
      packagesBytes: 1,
      runtimeClassName: "any",
      priorityClassName: "any",
      serviceAccountName: "any",
    },
  );
  const { containers, volumes, ...rest } = spec as unknown as Record<string, unknown> & {
    containers: [SampleContainer];
    volumes: SampleVolume[];
  };
  for (const name of ["hostNetwork", "hostPID", "hostIPC"]) delete rest[name]; // which it leaves out if they are false
  return { spec: rest, container: containers[0], volumes };
}

/** Fields of a pod that are not the same in all. */
const specRules: Readonly<Record<string, PodRule>> = {
  activeDeadlineSeconds: {
    expression: `has(variables.spec.activeDeadlineSeconds) && variables.spec.activeDeadlineSeconds > 0 && variables.spec.activeDeadlineSeconds <= ${LONGEST_S}`,
    message: `a script's pod has an end in activeDeadlineSeconds, after ${LONGEST_S} s at most`,
  },
  serviceAccountName: {
    expression: `has(variables.spec.serviceAccountName) && variables.spec.serviceAccountName == "${PodRuleWord.Account}"`,
    message: "a script's pod has the account without rights",
  },
  automountServiceAccountToken: {
    expression: "has(variables.spec.automountServiceAccountToken) && !variables.spec.automountServiceAccountToken",
    message: "a script's pod mounts no token",
  },
  runtimeClassName: {
    expression: `(has(variables.spec.runtimeClassName) ? variables.spec.runtimeClassName : "") == "${PodRuleWord.RuntimeClass}"`,
    message: "a script's pod runs by the runtime class of scripts",
  },
  priorityClassName: {
    expression: `"${PodRuleWord.PriorityClass}" == "" ? (!has(variables.spec.priorityClassName) || !variables.spec.priorityClassName.startsWith("system-")) : has(variables.spec.priorityClassName) && variables.spec.priorityClassName == "${PodRuleWord.PriorityClass}"`,
    message: "a script's pod has the priority class of scripts",
  },
};

/** A runtime class may add some, of its nodes' taints. */
function tolerationsRule(tolerations: unknown): PodRule {
  const ours = literal(tolerations);
  const field = "variables.spec.tolerations";
  return {
    expression: `has(${field}) && (${HAS_RUNTIME_CLASS} ? ${ours}.all(one, one in ${field}) && ${field}.all(one, has(one.key) && one.key != "") : ${field} == ${ours})`,
    message: "a script's pod tolerates a lost node for some seconds, and no other taints",
  };
}

const hexadecimal = (digits: number): string => `[0-9a-f]{${digits}}`;

/**
 * Its name, its labels and annotations: those of the manager only, as it writes them; those of others are kept from the
 * manager alone.
 */
function markRules(): PodRule[] {
  const patterns = {
    labels: {
      [PodLabel.App]: APP,
      [PodLabel.Owner]: `${hexadecimal(16)}([.]installer)?`,
      [PodLabel.State]: Object.values(PodState).join("|"),
      [PodLabel.Job]: hexadecimal(32),
    },
    annotations: {
      [PodAnnotation.Deadline]: "20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}Z",
      [PodAnnotation.Attempt]: hexadecimal(16),
    },
  };
  const optional: readonly string[] = [PodLabel.Job];
  return [
    {
      expression: `object.metadata.name.matches("^${APP}-${hexadecimal(32)}(-[0-9])?$") && !has(object.metadata.ownerReferences) && !has(object.metadata.finalizers)`,
      message: "a script's pod is named as the manager names it, has no owner and no finalizers",
    },
    ...Object.entries(patterns).map(([what, marks]) => {
      const field = `object.metadata.${what}`;
      const each = Object.entries(marks).map(([key, pattern]) => {
        const isSo = `(${literal(key)} in ${field} && ${field}[${literal(key)}].matches(${literal(`^(${pattern})$`)}))`;
        return optional.includes(key) ? `(!(${literal(key)} in ${field}) || ${isSo})` : isSo;
      });
      const others = `(request.userInfo.username != "${PodRuleWord.Manager}" || ${field}.all(key, key in ${literal(Object.keys(marks))}))`;
      return {
        expression: [`has(${field})`, ...each, others].join(" && "),
        message: `a script's pod has the ${what} that the manager gives it`,
      };
    }),
  ];
}

function containerRules(
  container: SampleContainer,
  kinds: Readonly<Record<"script" | "installer", PodKind>>,
): PodRule[] {
  const free = ["image", "command", "resources", "volumeMounts"];
  const keys = [...Object.keys(container), ...Object.keys(containerDefaults)];
  return [
    { expression: "size(object.spec.containers) == 1", message: "a script's pod has one container, and no others" },
    {
      expression: `variables.container.image in ${PodRuleWord.Images}`,
      message: "a script's pod runs one of the allowed images",
    },
    {
      expression: `variables.container.all(key, key in ${literal(keys)})`,
      message: `the container of a script's pod has no other fields than ${keys.join(", ")}`,
    },
    ...Object.entries(container).flatMap(([key, value]) =>
      free.includes(key) ? [] : [fieldRule("container", key, value)],
    ),
    ...Object.entries(containerDefaults).map(([key, value]) => defaultRule("container", key, value)),
    {
      expression: `size(variables.command) == ${kinds.script.command.length} ? ${commandIs(kinds.script, "script")} : variables.isInstaller && ${commandIs(kinds.installer, "installer")}`,
      message: "a script's pod runs the manager's own program, and no other command",
    },
    ...resourceRules(kinds.installer.limits),
  ];
}

/** A word in JSON is free in its numbers only, which bound what runs within what the container has. */
function commandIs({ command, program }: PodKind, kind: string): string {
  const words = command.map((word, index) => {
    if (word.startsWith("{")) return `variables.command[${index}].matches(${literal(`^${patternOf(word)}$`)})`;
    return `variables.command[${index}] ${word === program ? `in variables.${kind}Programs` : `== ${literal(word)}`}`;
  });
  return `(${words.join(" && ")})`;
}

const patternOf = (json: string): string =>
  json.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/[0-9]+/g, "[0-9]+");

function resourceRules(installer: SandboxLimits): PodRule[] {
  const bounds = {
    memory: [PodRuleWord.Memory, mebibytes(installer.memoryBytes)],
    cpu: [PodRuleWord.Processors, processorsOf(installer)],
    "ephemeral-storage": [PodRuleWord.Disk, mebibytes(installer.storageBytes)],
  } as const;
  const resources = "variables.container.resources";
  const within = Object.entries(bounds).map(
    ([name, [script, ofInstaller]]) =>
      `"${name}" in ${resources}.limits && quantity(${resources}.limits["${name}"]).compareTo(quantity(variables.isInstaller ? "${ofInstaller}" : "${script}")) <= 0`,
  );
  return [
    {
      expression: `has(variables.container.resources) && ${resources}.all(key, key in ["limits", "requests"]) && has(${resources}.limits) && has(${resources}.requests) && ${resources}.limits == ${resources}.requests && size(${resources}.limits) == ${within.length}`,
      message: "the container of a script's pod asks for as much as it may use, of memory, processors and disk",
    },
    {
      expression: within.join(" && "),
      message: "the container of a script's pod may use what the manager's settings say at most",
    },
  ];
}

/** The rules of volumes, with packages or without. */
function volumeRules(
  mounts: SampleContainer["volumeMounts"],
  volumes: readonly SampleVolume[],
  installerStorage: string,
): PodRule[] {
  const [plain, withPackages] = [mounts.filter(({ name }) => name !== "packages"), mounts].map((list) => literal(list));
  const sizes: Readonly<Record<string, string>> = {
    tmp: `variables.isInstaller ? "${installerStorage}" : "${PodRuleWord.Storage}"`,
    packages: `"${PodRuleWord.Packages}"`,
  };
  const each = volumes.map(({ name, emptyDir }) => {
    const size = sizes[name];
    const fields = size === undefined ? emptyDir : { ...emptyDir, sizeLimit: RAW };
    const isAlike = `dyn(one) == ${literal({ name, emptyDir: fields }).replace(literal(RAW), "dyn(one.emptyDir.sizeLimit)")}`;
    const isSmall = size === undefined ? "true" : `quantity(one.emptyDir.sizeLimit).compareTo(quantity(${size})) <= 0`;
    return `(one.name == ${literal(name)} && has(one.emptyDir) && has(one.emptyDir.sizeLimit) && ${isAlike} && ${isSmall})`;
  });
  return [
    {
      expression: `has(variables.container.volumeMounts) && (variables.container.volumeMounts == ${plain} || variables.container.volumeMounts == ${withPackages})`,
      message: "a script's pod has its own folders where the manager puts them",
    },
    {
      expression: `has(variables.spec.volumes) && size(variables.spec.volumes) == size(variables.container.volumeMounts) && variables.spec.volumes.all(one, ${each.join(" || ")})`,
      message: "a script's pod has folders of its own of bounded size, and no other volumes",
    },
  ];
}

/** Stands for an expression within a literal. */
const RAW = "@RAW@";

function fieldRule(of: "spec" | "container", key: string, value: unknown): PodRule {
  const field = `variables.${of}.${key}`;
  return {
    expression: `has(${field}) && ${field} == ${literal(value)}`,
    message: `a script's pod has ${of === "container" ? "in its container " : ""}${key} as the manager sets it`,
  };
}

function defaultRule(of: "spec" | "container", key: string, value: string): PodRule {
  const field = `variables.${of}.${key}`;
  return {
    expression: `!has(${field}) || ${field} == ${value}`,
    message: `a script's pod leaves ${key} as it is by default`,
  };
}

/** A mark that is not changed once it is there. */
function kept(what: "labels" | "annotations", key: string): string {
  const [before, now] = [`oldObject.metadata.${what}`, `object.metadata.${what}`];
  return `!has(${before}) || !("${key}" in ${before}) || ("${key}" in ${now} && ${now}["${key}"] == ${before}["${key}"])`;
}

/** In CEL, whose lists and maps hold values of one type unless each is said to be any. */
function literal(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(anyOf).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${anyOf(one)}`)
    .join(", ")}}`;
}

function anyOf(value: unknown): string {
  return `dyn(${literal(value)})`;
}
