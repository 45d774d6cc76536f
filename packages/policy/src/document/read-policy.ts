import { createHash } from "node:crypto";
import { ConfigError, canonicalJson, describeFaults, yamlFaults, yamlValue } from "@rockbot/contracts";
import { type PolicyDocument, policySchema } from "../generated/policy.ts";
import { type ArgumentRules, compileArgumentRules, noArgumentRules } from "./argument-rules.ts";
import { documentFaults } from "./document-faults.ts";
import type { PolicyPath } from "./document-place.ts";

/** The content of a policy file with all defaults, and the lines where it says so. */
export interface PolicySource {
  readonly document: PolicyDocument;
  /** The first 12 hex digits of the SHA-256 of what the file says, whatever its form; `default` without a file. */
  readonly revision: string;
  /** The compiled argument rules of the document. */
  readonly argumentRules: ArgumentRules;
  /** The line of the file where the value under this path stands, counted from 1. */
  lineOf(path: PolicyPath): number | undefined;
}

const MAX_POLICY_BYTES = 1024 * 1024;
const MAX_FAULTS = 200;

/** The policy that applies without a file: every caller may use every tool except the dangerous ones. */
export function defaultPolicySource(): PolicySource {
  const document = { everyone: { allow: ["*"] } };
  policySchema.validate(document);
  return {
    document: document as unknown as PolicyDocument,
    revision: "default",
    argumentRules: noArgumentRules,
    lineOf: () => undefined,
  };
}

/**
 * Reads the text of a policy file, YAML or JSON.
 * @param name what the file is called in faults
 * @throws {ConfigError} with all faults at once, each with its line
 */
export async function readPolicy(text: string, name: string): Promise<PolicySource> {
  const failed = (faults: readonly string[]) => new ConfigError(faults, `the policy ${name}`);
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) throw failed([`it is larger than ${MAX_POLICY_BYTES} bytes`]);
  const { isNode, LineCounter, parseDocument } = await import("./policy-yaml.ts"); // a process without a policy file starts faster
  const lines = new LineCounter();
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  if (yaml.errors.length > 0) {
    throw failed(yamlFaults(yaml, lines));
  }
  const { value, fault } = yamlValue(yaml);
  if (fault !== undefined) throw failed([fault]);
  // An editor that empties a file before it writes it must not take everybody's tokens for a moment.
  if (value == null) throw failed(["it is empty: write {} for a policy that allows nothing"]);

  function lineOf(path: PolicyPath): number | undefined {
    for (let length = path.length; length > 0; length--) {
      const node = yaml.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return undefined;
  }
  function located(path: PolicyPath, message: string): string {
    const line = lineOf(path);
    const where = [
      ...(path.length === 0 ? [] : [path.join(".")]),
      ...(line === undefined ? [] : [`line ${line}`]),
    ].join(", ");
    return where === "" ? message : `${where}: ${message}`;
  }

  const revision = createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 12);
  if (!policySchema.validate(value)) {
    const described = (quoteValues: boolean) =>
      describeFaults(policySchema.validate, policySchema.schema, value, { maxFaults: MAX_FAULTS, quoteValues });
    const unquoted = described(false);
    throw failed(
      described(true).map(({ path, message }, i) =>
        located(pathOf(path, value), isOfTokens(path) ? (unquoted[i]?.message ?? "is not valid") : message),
      ),
    );
  }
  const compiled = await compileArgumentRules(value);
  const faults = [...documentFaults(value), ...compiled.faults];
  if (faults.length > 0) throw failed(faults.slice(0, MAX_FAULTS).map(({ path, message }) => located(path, message)));
  return { document: value, revision, argumentRules: compiled.rules, lineOf };
}

/** Tells whether a value there may be a token itself, put where its hash belongs. */
const isOfTokens = (pointer: string): boolean => pointer.split("/").includes("tokens");

/** The steps of a JSON pointer; a step into a list is a number. */
function pathOf(pointer: string, root: unknown): PolicyPath {
  let at = root;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const step = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const key = Array.isArray(at) ? Number(step) : step;
      at = (at as Record<string | number, unknown> | undefined)?.[key];
      return key;
    });
}
