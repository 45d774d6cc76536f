import { lookup } from "node:dns/promises";
import { getBooleanFromEnv, getStringFromEnv } from "@opentelemetry/core";
import { within } from "@rockbot/base";

const LOOKUP_MS = 2_000;

/**
 * Tells whether to export to the endpoint of `OTEL_EXPORTER_OTLP_ENDPOINT`. With `OTLP_IF_FOUND=true` that is so only
 * if the name of its host has an address when the process starts: docker compose has the collector in a profile, and
 * cannot tell the services whether the profile is chosen.
 */
export async function isCollectorFound(): Promise<boolean> {
  const endpoint = getStringFromEnv("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (!getBooleanFromEnv("OTLP_IF_FOUND") || endpoint === undefined || !URL.canParse(endpoint)) return true;
  try {
    await within(LOOKUP_MS, lookup(new URL(endpoint).hostname), () => new Error(`No address in ${LOOKUP_MS} ms`));
    return true;
  } catch {
    return false;
  }
}
