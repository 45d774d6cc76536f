import type { FieldFault } from "../store/api-failure.ts";
import type { Container, Pod, PodSpec, Volume } from "../store/objects.ts";
import { amountOf } from "../store/quantity.ts";
import { dnsLabelFaults, invalidValue, metadataFaults, requiredValue } from "./validate-metadata.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MAX_INT32 = 2 ** 31 - 1;

/** All that is wrong with a pod, with its defaults already filled in. */
export function podFaults(pod: Pod): readonly FieldFault[] {
  return [...metadataFaults(pod.metadata), ...specFaults(pod.spec)];
}

function specFaults(spec: PodSpec): readonly FieldFault[] {
  const volumes = spec.volumes ?? [];
  return [
    ...volumes.flatMap(volumeFaults),
    ...duplicates("spec.volumes", volumes),
    ...(spec.containers.length === 0 ? [requiredValue("spec.containers")] : []),
    ...spec.containers.flatMap((container, index) => containerFaults(`spec.containers[${index}]`, container, volumes)),
    ...(spec.initContainers ?? []).flatMap((container, index) =>
      containerFaults(`spec.initContainers[${index}]`, container, volumes),
    ),
    ...duplicates("spec.containers", spec.containers),
    ...notSupported("spec.restartPolicy", spec.restartPolicy ?? "Always", RESTART_POLICIES),
    ...secondsFaults("spec.activeDeadlineSeconds", spec.activeDeadlineSeconds, 1),
    ...secondsFaults("spec.terminationGracePeriodSeconds", spec.terminationGracePeriodSeconds, 0),
  ];
}

function secondsFaults(field: string, value: number | undefined, least: number): readonly FieldFault[] {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= MAX_INT32)) return [];
  return [invalidValue(field, value, `must be between ${least} and ${MAX_INT32}, inclusive`)];
}

function volumeFaults(volume: Volume, index: number): readonly FieldFault[] {
  const field = `spec.volumes[${index}]`;
  const kinds = Object.keys(volume).filter((key) => key !== "name");
  const size = volume.emptyDir?.sizeLimit;
  return [
    ...dnsLabelFaults(`${field}.name`, volume.name),
    ...(kinds.length === 0 ? [requiredValue(field, "must specify a volume type")] : []),
    ...(size !== undefined && Number.isNaN(amountOf(size))
      ? [invalidValue(`${field}.emptyDir.sizeLimit`, size, "quantities must match the regular expression")]
      : []),
  ];
}

function containerFaults(field: string, container: Container, volumes: readonly Volume[]): readonly FieldFault[] {
  return [
    ...dnsLabelFaults(`${field}.name`, container.name),
    ...((container.image ?? "").trim() === "" ? [requiredValue(`${field}.image`)] : []),
    ...notSupported(`${field}.imagePullPolicy`, container.imagePullPolicy ?? "Always", PULL_POLICIES),
    ...(container.env ?? []).flatMap(({ name }, index) =>
      /^[^=\0]+$/.test(name)
        ? []
        : [
            invalidValue(
              `${field}.env[${index}].name`,
              name,
              "a valid environment variable name must consist only of printable ASCII characters other than '='",
            ),
          ],
    ),
    ...(container.volumeMounts ?? []).flatMap((mount, index) =>
      mountFaults(`${field}.volumeMounts[${index}]`, mount, volumes),
    ),
    ...resourceFaults(`${field}.resources`, container),
  ];
}

function mountFaults(
  field: string,
  { name, mountPath }: { readonly name: string; readonly mountPath: string },
  volumes: readonly Volume[],
): readonly FieldFault[] {
  return [
    ...(volumes.some((volume) => volume.name === name)
      ? []
      : [
          {
            reason: "FieldValueNotFound",
            field: `${field}.name`,
            message: `Not found: "${name}"`,
          } satisfies FieldFault,
        ]),
    ...((mountPath ?? "") === "" ? [requiredValue(`${field}.mountPath`)] : []),
  ];
}

function resourceFaults(field: string, { resources }: Container): readonly FieldFault[] {
  const { limits = {}, requests = {} } = resources ?? {};
  const unreadable = Object.entries({ limits, requests }).flatMap(([part, amounts]) =>
    Object.entries(amounts)
      .filter(([, amount]) => !(amountOf(amount) >= 0))
      .map(([name, amount]) => invalidValue(`${field}.${part}[${name}]`, amount, "must be greater than or equal to 0")),
  );
  const tooMuch = Object.entries(requests)
    .filter(([name, amount]) => limits[name] !== undefined && amountOf(amount) > amountOf(limits[name]))
    .map(([name, amount]) =>
      invalidValue(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${limits[name]}`),
    );
  return [...unreadable, ...tooMuch];
}

function notSupported(field: string, value: string, supported: readonly string[]): readonly FieldFault[] {
  if (supported.includes(value)) return [];
  const list = supported.map((one) => `"${one}"`).join(", ");
  return [
    { reason: "FieldValueNotSupported", field, message: `Unsupported value: "${value}": supported values: ${list}` },
  ];
}

function duplicates(field: string, named: readonly { readonly name: string }[]): readonly FieldFault[] {
  return named.flatMap(({ name }, index) =>
    named.findIndex((other) => other.name === name) < index
      ? [
          {
            reason: "FieldValueDuplicate",
            field: `${field}[${index}].name`,
            message: `Duplicate value: "${name}"`,
          } satisfies FieldFault,
        ]
      : [],
  );
}
