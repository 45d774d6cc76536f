import { readFile } from "node:fs/promises";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { statusOf } from "../../../services/gateway/src/http/http-error.ts";
import { code, fillPage, table } from "../fill-page.ts";
import { errorReasons, literalsIn } from "../source/error-reasons.ts";
import type { Source } from "../source/sources.ts";
import { documentedMembers, readCatalogue } from "./catalogue.ts";

interface Reason {
  readonly meaning: string;
  readonly do: string;
  readonly codes?: readonly string[];
}

/**
 * `docs/reference/error-codes.md`: every code, every `details.reason` and every code of models, and what the caller
 * does about it.
 */
export async function errorCodesReference(sources: readonly Source[]): Promise<string> {
  const found = new Map(errorReasons(sources, ToolErrorCode).map(({ reason, codes }) => [reason, codes]));
  const reasons = await readCatalogue<Reason>("error-reasons", found.keys(), literalsIn(sources));
  const members = documentedMembers(await readFile("packages/contracts/src/tool-error.ts", "utf8"));
  const remedies = await readCatalogue<string>(
    "error-codes",
    members.map(({ value }) => value),
  );
  const codeRows = members.map(({ doc, value }) => [
    code(value),
    doc,
    new ToolError(value, "").isRetryable ? "yes" : "no",
    String(statusOf(value)),
    remedies[value] ?? "",
  ]);
  const gatewayMembers = documentedMembers(await readFile("services/gateway/src/http/http-error.ts", "utf8"));
  const gatewayRows = gatewayMembers.map(({ doc, value }) => [code(value), String(statusOf(value)), doc]);
  const modelMembers = documentedMembers(await readFile("packages/llm/src/model-error.ts", "utf8"));
  const modelRemedies = await readCatalogue<string>(
    "model-error-codes",
    modelMembers.map(({ value }) => value),
  );
  const modelRows = modelMembers.map(({ doc, value }) => [code(value), doc, modelRemedies[value] ?? ""]);
  const reasonRows = Object.entries(reasons)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, { meaning, do: remedy, codes }]) => [
      code(reason),
      (codes ?? found.get(reason) ?? []).map(code).join(" "),
      meaning,
      remedy,
    ]);
  return fillPage("error-codes", "ToolErrorCode and the errors that packages and services throw", {
    codes: table(["code", "meaning", "retryable", "HTTP status", "what the caller does"], codeRows),
    gateway: table(["code", "HTTP status", "meaning"], gatewayRows),
    models: table(["code", "meaning", "what to do"], modelRows),
    reasons: table(["`details.reason`", "code", "meaning", "what to do"], reasonRows),
  });
}
