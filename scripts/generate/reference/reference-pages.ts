import { services } from "@rockbot/services";
import type { JsonSchema, SchemaDocument } from "../schema-document.ts";
import { readSources } from "../source/sources.ts";
import { brokerRightsReference } from "./broker-rights-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { errorCodesReference } from "./error-codes-reference.ts";
import { foreignWordsReference } from "./foreign-words-reference.ts";
import { logEventsReference } from "./log-events-reference.ts";
import { messagesReference } from "./messages-reference.ts";
import { metricsReference } from "./metrics-reference.ts";
import { modelTextsReference } from "./model-texts-reference.ts";
import { operatorsReference } from "./operators-reference.ts";
import { policyReference } from "./policy-reference.ts";
import { securePage } from "./secure-page.ts";
import { servicesReference } from "./services-reference.ts";
import { settingsReference } from "./settings-reference.ts";
import { toolsReference } from "./tools-reference.ts";

const EXAMPLE_POLICY = "docs/examples/policy.yaml";

export interface ReferenceParts {
  readonly definitions: SchemaDocument["definitions"];
  /** The schema of each service's settings. */
  readonly configs: ReadonlyMap<string, JsonSchema>;
}

/**
 * The pages of `docs/reference`, and the one of docs/operate, that are made of the schemas and of the code, by their
 * files.
 */
export async function referencePages({ definitions, configs }: ReferenceParts): Promise<ReadonlyMap<string, string>> {
  const sources = await readSources();
  const pages = {
    "broker-rights": brokerRightsReference(EXAMPLE_POLICY),
    cli: cliReference(sources),
    "error-codes": errorCodesReference(sources),
    "foreign-words": foreignWordsReference(sources, services),
    "log-events": logEventsReference(sources),
    messages: messagesReference(definitions),
    metrics: metricsReference(sources),
    "model-texts": modelTextsReference(sources),
    operators: operatorsReference(),
    policy: policyReference(EXAMPLE_POLICY),
    services: servicesReference(services),
    settings: settingsReference(configs),
    tools: toolsReference(definitions),
  };
  const made = Object.entries(pages).map(
    async ([name, text]): Promise<[string, string]> => [`docs/reference/${name}.md`, await text],
  );
  return new Map([...(await Promise.all(made)), ["docs/operate/secure.md", await securePage(services, configs)]]);
}
