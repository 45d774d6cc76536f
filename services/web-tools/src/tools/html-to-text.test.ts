import { expect, test } from "vitest";
import { startTestWebTools } from "../test-web-tools.ts";

test("html_to_text gives the text of HTML that the caller has, with absolute links", async () => {
  await using web = await startTestWebTools({}, { CONVERT_TIMEOUT_MS: "500" });
  const call = (input: object) => web.caller.call("html_to_text", input);

  expect(
    await call({ html: "<p>Read <a href='b'>on</a></p><ul><li>x</ul>", url: "https://example.com/a/" }),
  ).toMatchObject({
    content: "Read on (https://example.com/a/b)\n\n- x",
    structured: { characters: 38 },
  });
  expect(await call({ html: "<style>p{}</style>&nbsp;" })).toMatchObject({
    content: "(The HTML holds no text.)",
    structured: { characters: 0 },
  });
  await expect(call({ html: "<b>".repeat(300_000) })).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("with a part"),
  });
  await expect(call({ html: "x", url: 5 })).rejects.toMatchObject({ code: "invalid_arguments" });
});
