import { readFileSync } from "node:fs";
import { yamlFaults, yamlValue } from "@rockbot/contracts";
import stripJsonComments from "strip-json-comments";
import { LineCounter, parseDocument } from "yaml";
import type { Settings } from "./setting.ts";

const MAX_BYTES = 1024 * 1024;

/** How JSON begins, or a comment of editors in it, which YAML would take for a part of a name. */
const JSON_BEGINS = /^\uFEFF?\s*(?:\/[/*]|\{\s*(?:["}]|\/[/*]))/;

/** The values that the YAML or JSON file at `path` sets. JSON may have comments and trailing commas. */
export function readConfigFile(path: string): Settings {
  const source = `the file ${path}`;
  const failed = (reason: string): Settings => ({ settings: new Map(), faults: [`${source}: ${reason}`] });

  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return failed(
      `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}). Give a readable file or none`,
    );
  }
  if (text.length > MAX_BYTES) return failed(`is larger than ${MAX_BYTES} characters`);

  const lines = new LineCounter();
  const plain = JSON_BEGINS.test(text) ? stripJsonComments(text) : text; // each place stays where it is
  const document = parseDocument(plain, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  if (document.errors.length > 0) {
    return { settings: new Map(), faults: yamlFaults(document, lines).map((fault) => `${source}: ${fault}`) };
  }
  const { value, fault } = yamlValue(document);
  if (fault !== undefined) return failed(fault);
  if (value === null) return { settings: new Map(), faults: [] };
  if (typeof value !== "object" || Array.isArray(value))
    return failed("expected a mapping of names to values at the top");
  return { settings: new Map(Object.entries(value).map(([name, it]) => [name, { value: it, source }])), faults: [] };
}
