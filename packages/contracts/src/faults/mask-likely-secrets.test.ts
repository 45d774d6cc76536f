import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { maskLikelySecrets } from "./mask-likely-secrets.ts";

const hex = createHash("sha256").update("a").digest("hex");

test.each([
  [`got the text "${hex}"`, 'got the text "[64 characters that may be a secret]"'],
  [hex.toUpperCase(), "[64 characters that may be a secret]"],
  ["callers.ghp_16C7e42F292c6912E7710c838347Ae178B4a: no", "callers.[40 characters that may be a secret]: no"],
  ["sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3", "[34 characters that may be a secret]"],
])("%j is told as %j", (text, told) => {
  expect(maskLikelySecrets(text)).toBe(told);
});

test("what is random is told in no form, but by a rare chance", () => {
  let told = 0;
  for (let round = 0; round < 300; round++)
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      const secret = randomBytes(32).toString(encoding);
      if (maskLikelySecrets(`x: "${secret}"`) !== `x: "[${secret.length} characters that may be a secret]"`) told++;
    }
  expect(told).toBeLessThan(18); // of 900; 1 on average
});

test.each([
  "/tmp/rockbot-AbC123xyz/policy.yaml",
  'unknown property "toolsAllowedForEverybodyByDefault"',
  "rockbot-agent-production-2026-11-23",
  "https://chat.example:443/v1/tools/web_browse?limit=100",
  "expected text that matches ^[a-z0-9][a-z0-9-]{0,38}$",
  "1234567890123456789012345678901234567890",
])("%j stays as it is", (text) => {
  expect(maskLikelySecrets(text)).toBe(text);
});
