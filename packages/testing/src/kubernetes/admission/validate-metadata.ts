import type { FieldFault } from "../store/api-failure.ts";
import type { Metadata } from "../store/objects.ts";

const MAX_NAME = 253;
const MAX_LABEL = 63;
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS_LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

export const invalidValue = (field: string, value: unknown, why: string): FieldFault => ({
  reason: "FieldValueInvalid",
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
});

export const requiredValue = (field: string, why = ""): FieldFault => ({
  reason: "FieldValueRequired",
  field,
  message: why === "" ? "Required value" : `Required value: ${why}`,
});

/** What is wrong with an object's name, labels and annotations. */
export function metadataFaults(metadata: Metadata): readonly FieldFault[] {
  return [
    ...nameFaults(metadata),
    ...Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => [
      ...keyFaults("metadata.labels", key),
      ...labelValueFaults(value),
    ]),
    ...Object.keys(metadata.annotations ?? {}).flatMap((key) => keyFaults("metadata.annotations", key.toLowerCase())),
    ...annotationSizeFaults(metadata.annotations ?? {}),
    ...(metadata.finalizers ?? []).flatMap((finalizer) => keyFaults("metadata.finalizers", finalizer)),
  ];
}

function nameFaults({ name }: Metadata): readonly FieldFault[] {
  if (name === "") return [requiredValue("metadata.name", "name or generateName is required")];
  if (name.length > MAX_NAME)
    return [invalidValue("metadata.name", name, `must be no more than ${MAX_NAME} characters`)];
  return SUBDOMAIN.test(name) ? [] : [invalidValue("metadata.name", name, SUBDOMAIN_RULE)];
}

/** Of a name that may have no dots, such as a container's. */
export function dnsLabelFaults(field: string, name: string): readonly FieldFault[] {
  if (name === "") return [requiredValue(field)];
  if (name.length > MAX_LABEL) return [invalidValue(field, name, `must be no more than ${MAX_LABEL} characters`)];
  return DNS_LABEL.test(name) ? [] : [invalidValue(field, name, DNS_LABEL_RULE)];
}

function keyFaults(field: string, key: string): readonly FieldFault[] {
  const [name = "", prefix, ...more] = key.split("/").reverse();
  const faults: FieldFault[] = [];
  if (more.length > 0) return [invalidValue(field, key, `a qualified name must have at most one '/'`)];
  if (prefix !== undefined && !(SUBDOMAIN.test(prefix) && prefix.length <= MAX_NAME))
    faults.push(invalidValue(field, key, `prefix part ${SUBDOMAIN_RULE}`));
  if (name === "") faults.push(invalidValue(field, key, "name part must be non-empty"));
  if (name.length > MAX_LABEL)
    faults.push(invalidValue(field, key, `name part must be no more than ${MAX_LABEL} characters`));
  if (!QUALIFIED.test(name)) faults.push(invalidValue(field, key, QUALIFIED_RULE));
  return faults;
}

function labelValueFaults(value: string): readonly FieldFault[] {
  const field = "metadata.labels";
  if (typeof value !== "string") return [invalidValue(field, value, "must be a string")];
  if (value.length > MAX_LABEL) return [invalidValue(field, value, `must be no more than ${MAX_LABEL} characters`)];
  return value === "" || QUALIFIED.test(value) ? [] : [invalidValue(field, value, LABEL_RULE)];
}

function annotationSizeFaults(annotations: Readonly<Record<string, string>>): readonly FieldFault[] {
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  if (bytes <= MAX_ANNOTATIONS_BYTES) return [];
  return [
    {
      reason: "FieldValueInvalid",
      field: "metadata.annotations",
      message: `Too long: may not be more than ${MAX_ANNOTATIONS_BYTES} bytes`,
    } satisfies FieldFault,
  ];
}
