/** What a `{{…}}` stands for. */
export interface Reference {
  /** As it was written, without the braces. */
  readonly pointer: string;
  readonly root: "steps" | "item" | "index" | "input";
  /** The step that it names, for the root `steps`. */
  readonly step?: string | undefined;
  readonly field?: StepField | undefined;
  /** Where in the value, as a JSON Pointer; empty for all of it. */
  readonly path: string;
}

/**
 * What a step gives: its result as a value, its result as a text, whether it succeeded, why it did not, and which of
 * its items failed.
 */
export type StepField = "data" | "text" | "ok" | "error" | "errors";

const FIELDS: readonly string[] = ["data", "text", "ok", "error", "errors"] satisfies readonly StepField[];
const FORMS =
  "{{/steps/ID/data}}, {{/steps/ID/text}}, {{/steps/ID/ok}}, {{/steps/ID/error}}, {{/steps/ID/errors}}, and in a step with for_each {{/item}} and {{/index}}";

/** Reads what stands between the braces. @returns the reference, or what is wrong with it, in words */
export function readReference(inner: string): Reference | string {
  const pointer = inner.trim();
  const shown = `{{${pointer.slice(0, 100)}}}`;
  if (!pointer.startsWith("/"))
    return `${shown} is not a reference. There are ${FORMS}. For the signs themselves write \\{{`;
  if (/~(?![01])/.test(pointer)) return `${shown} is not a JSON Pointer: in one, ~ is written ~0, and / in a name ~1`;
  const [, root = "", ...rest] = pointer.split("/");
  if (root === "item" || root === "input") return { pointer, root, path: pathOf(rest) };
  if (root === "index")
    return rest.length === 0 ? { pointer, root, path: "" } : `${shown}: {{/index}} is a number, with nothing in it`;
  if (root !== "steps") return `${shown} begins with an unknown word. There are ${FORMS}`;
  const [step = "", field = "", ...path] = rest;
  if (step === "") return `${shown} names no step. Write ${shown.slice(0, 2)}/steps/ID/text}} with the id of one`;
  if (!isField(field))
    return `${shown} does not say what of the step "${step}": /steps/${step}/data, /text, /ok, /error or /errors`;
  if (field !== "data" && field !== "errors" && path.length > 0)
    return `${shown}: "${field}" is not data, and has nothing in it. Data has /steps/${step}/data/${path.join("/")}`;
  return { pointer, root, step, field, path: pathOf(path) };
}

const isField = (text: string): text is StepField => FIELDS.includes(text);

const pathOf = (parts: readonly string[]): string => parts.map((part) => `/${part}`).join("");
