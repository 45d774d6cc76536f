import { readFileSync } from "node:fs";
import { ownVirtualHost } from "@rockbot/testing";
import { expect, test } from "vitest";
import { featureDocument, probeFeatures } from "./feature-matrix.ts";
import { FEATURES_FILE } from "./features-file.ts";

test("what docs/reference/mcp-features.md says of each transport, era and feature is so", {
  timeout: 300_000,
}, async () => {
  await using broker = await ownVirtualHost(); // the bridges of other tests would take calls from a shared one
  expect(featureDocument(await probeFeatures(broker.url))).toBe(readFileSync(FEATURES_FILE, "utf8"));
});
