import { expect, test } from "vitest";
import { maskNamedSecrets } from "./mask-named-secrets.ts";

const KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----";

test.each([
  [`before ${KEY} after`, "before [a secret] after"],
  [JSON.stringify({ text: KEY.slice(0, 60) }), '{"text":"[a secret]'],
  ["postgres://app:hunter2@db/x", "postgres://app:[a secret]@db/x"],
  ["curl -H 'Authorization: Bearer op-all-token-of-words'", "curl -H 'Authorization: Bearer [a secret]'"],
  ['{"password":"hunter2","user":"ada"}', '{"password":"[a secret]","user":"ada"}'],
  ['{"body":"{\\"client_secret\\": \\"hunter2\\"}"}', '{"body":"{\\"client_secret\\": \\"[a secret]\\"}"}'],
  ["a=1&api_key=hunter2&b=2", "a=1&api_key=[a secret]&b=2"],
  ["DB_PASSWORD=correct-horse", "DB_PASSWORD=[a secret]"],
])("%j is kept as %j", (text, kept) => {
  expect(maskNamedSecrets(text)).toBe(kept);
});

test.each([
  "The password is wrong. A token: it is needed.",
  "https://chat.example:443/v1/tools?limit=100",
  '{"max_tokens":100000,"author":"ada@example.com"}',
  "the bearer of this letter",
])("%j stays as it is", (text) => {
  expect(maskNamedSecrets(text)).toBe(text);
});

test("a hostile text takes no time", () => {
  for (const part of ["-----BEGIN PRIVATE KEY-----", "://", "password=", "token:", "bearer ", "x:", "://a:"])
    expect(maskNamedSecrets(part.repeat(50_000)).length).toBeGreaterThan(0);
}, 5_000);
