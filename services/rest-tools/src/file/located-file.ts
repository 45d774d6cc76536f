import { readFileSync } from "node:fs";
import { yamlFaults, yamlValue } from "@rockbot/contracts";
import { isNode, LineCounter, parseDocument } from "yaml";

/** The steps to a value, as the file or its schema spells them. */
export type FilePath = readonly (string | number)[];

/** What a file says, and the lines where it says so. */
export interface LocatedFile {
  readonly text: string;
  readonly value: unknown;
  /** None of them leaves a value. */
  readonly faults: readonly string[];
  /** A fault with its place. */
  located(path: FilePath, message: string): string;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a YAML or JSON file. */
export function readLocatedFile(file: string): LocatedFile {
  const failed = (...faults: readonly string[]): LocatedFile => ({
    text,
    value: undefined,
    faults,
    located: (_, message) => message,
  });
  let text = "";
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return failed(
      `it cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}). Give a readable file`,
    );
  }
  if (Buffer.byteLength(text) > MAX_BYTES) return failed(`it is larger than ${MAX_BYTES} bytes`);
  const lines = new LineCounter();
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  if (yaml.errors.length > 0) return failed(...yamlFaults(yaml, lines));
  const { value: written, fault } = yamlValue(yaml);
  if (fault !== undefined) return failed(fault);
  const value = written ?? {};

  /** The path as the file spells it: a name may begin with a capital letter there. */
  function spelled(path: FilePath): FilePath {
    const steps: (string | number)[] = [];
    for (const step of path) {
      const capital = typeof step === "string" ? step.charAt(0).toUpperCase() + step.slice(1) : step;
      steps.push(yaml.hasIn([...steps, step]) || !yaml.hasIn([...steps, capital]) ? step : capital);
    }
    return steps;
  }

  function located(path: FilePath, message: string): string {
    const steps = spelled(path);
    for (let length = steps.length; length > 0; length--) {
      const node = yaml.getIn(steps.slice(0, length), true);
      if (isNode(node) && node.range)
        return `${steps.join(".")}, line ${lines.linePos(node.range[0]).line}: ${message}`;
    }
    return steps.length === 0 ? message : `${steps.join(".")}: ${message}`;
  }
  return { text, value, faults: [], located };
}
