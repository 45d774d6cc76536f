/** A text of the file in parts: what stands there, and arguments that are put in between. */
export type TextTemplate = readonly (string | { readonly parameter: readonly string[] })[];

/** The environment as the file may use it. */
export interface TemplateContext {
  /** The variables that the file lists. */
  readonly listed: ReadonlySet<string>;
  /** The value of a listed variable; undefined if it is not set. */
  value(name: string): string | undefined;
}

/** A template, or what is wrong with it. */
export interface ParsedTemplate {
  readonly template: TextTemplate;
  /** What only the person who writes the file can mend. */
  readonly faults: readonly string[];
  /** Listed variables that are not set. */
  readonly missing: readonly string[];
}

const PLACES = /\$\{parameters\.([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\}|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{([^}]*)\}/g;
const PLACES_AND_BRACES = new RegExp(`${PLACES.source}|\\{([^{}]*)\\}`, "g");

/**
 * Reads a text of the operator's file, in one pass: what comes out of a variable is text, whatever stands in it.
 * @param hasBraces whether `{x}` stands for an argument, too
 */
export function parseTextTemplate(
  text: string,
  context: TemplateContext,
  { hasBraces = false }: { readonly hasBraces?: boolean } = {},
): ParsedTemplate {
  const template: (string | { readonly parameter: readonly string[] })[] = [];
  const faults: string[] = [];
  const missing: string[] = [];
  let end = 0;
  for (const match of text.matchAll(hasBraces ? PLACES_AND_BRACES : PLACES)) {
    const [whole, path, variable, unknown, braced] = match;
    template.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (path !== undefined) template.push({ parameter: path.split(".") });
    else if (variable !== undefined) template.push(variableText(variable));
    else if (braced !== undefined && /^[^\s{}]+$/.test(braced)) template.push({ parameter: [braced] });
    else
      faults.push(
        `"${(unknown ?? braced ?? "").slice(0, 80)}" between braces is neither a variable nor parameters.NAME`,
      );
  }
  template.push(text.slice(end));
  return { template: joined(template), faults, missing };

  function variableText(name: string): string {
    if (!context.listed.has(name)) {
      faults.push(`the variable ${name} is not listed: add it to "environment" at the top of the file`);
      return "";
    }
    const value = context.value(name);
    if (value === undefined) missing.push(name);
    return value ?? "";
  }
}

/** The names of the arguments that a template takes. */
export const parametersIn = (template: TextTemplate): string[] =>
  template.flatMap((part) => (typeof part === "string" ? [] : [part.parameter[0] ?? ""]));

/** Neighbouring texts as one, so that what stands before an argument is one text. */
function joined(parts: TextTemplate): TextTemplate {
  const result: (string | { readonly parameter: readonly string[] })[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (typeof part === "string" && typeof last === "string") result[result.length - 1] = last + part;
    else if (part !== "") result.push(part);
  }
  return result;
}
