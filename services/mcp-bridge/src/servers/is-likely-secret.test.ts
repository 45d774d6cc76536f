import { expect, test } from "vitest";
import { isLikelySecret } from "./is-likely-secret.ts";

test.each([
  ["API_KEY", "production"],
  ["DB_PASSWORD", "/looks/like/a/path"],
  ["authorization", "Bearer abc"],
  ["X", "sk-live-47110815abc"],
  ["DATABASE", "postgres://user:pw@host/db"],
  ["url", "https://host/mcp?k=47110815"],
])("%s with the value %s is a secret", (name, value) => {
  expect(isLikelySecret(name, value)).toBe(true);
});

test.each([
  ["NODE_ENV", "production"],
  ["HOME", "/srv/data"],
  ["MEMORY_FILE_PATH", "C:\\data\\memory.json"],
  ["PORT", "8080"],
  ["HOST", "localhost:8080"],
  ["BASE_URL", "https://example.com/mcp"],
  ["accept", "application/json"],
])("%s with the value %s is none", (name, value) => {
  expect(isLikelySecret(name, value)).toBe(false);
});
