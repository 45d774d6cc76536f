import { ConfigError } from "@rockbot/contracts";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { readRestFile } from "./read-rest-file.ts";

function faultsOf(text: string): readonly string[] {
  using folder = temporaryFolder();
  try {
    readRestFile(folder.write("rest.yaml", text), {});
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults;
  }
}

test("a file whose aliases lead into themselves is refused in words", () => {
  expect(faultsOf("tools: &a { x: *a }")).toEqual(["it has an alias of what the alias is a part of"]);
});

test("all faults come at once, each with its line", () => {
  const faults = faultsOf(`credentials:
  shop: { origins: ["https://shop.example"], env: SHOP_KEY }
tools:
  host: { url: "https://\${parameters.host}/x" }
  both: { url: "https://a.example/", urlTemplate: "https://a.example/" }
  unlisted: { url: "https://a.example/", headers: { Authorization: "Bearer \${TOKEN}" } }
  elsewhere: { url: "https://other.example/", credential: shop }
  select: { url: "https://a.example/", select: "a[" }
  method: { url: "https://a.example/", method: FETCH }
  braces: { url: "https://a.example/{id}" }
RestTools:
  Endpoints:
    - { Name: HOST, UrlTemplate: "https://a.example/{x}" , AuthType: bearer }
    - { Name: host, UrlTemplate: "https://a.example/" }
`);
  expect(faults).toEqual([
    expect.stringMatching(/^tools\.host\.url, line 4: .*no argument stands in them/),
    expect.stringMatching(/^tools\.both, line 5: .*give one of them/),
    expect.stringMatching(/^tools\.unlisted\.headers\.Authorization, line 6: the variable TOKEN is not listed/),
    expect.stringMatching(/^tools\.elsewhere\.credential, line 7: .*is not for https:\/\/other\.example/),
    expect.stringMatching(/^tools\.select\.select, line 8: it is neither a JSON Pointer nor JMESPath/),
    expect.stringMatching(/^tools\.method\.method, line 9: /),
    expect.stringMatching(
      /^tools\.braces\.url, line 10: "\{id\}" stands for no argument here: write "\$\{parameters\.id\}", or "urlTemplate"/,
    ),
    expect.stringMatching(/^RestTools\.Endpoints\.0, line 13: there is a tool of this name already/),
    expect.stringMatching(/^RestTools\.Endpoints\.0.*line 13: the authType "bearer" needs it/),
    expect.stringMatching(/^RestTools\.Endpoints\.1, line 14: there is a tool of this name already/),
  ]);
});

test("what breaks the schema is told with its line, and no value of it", () => {
  const faults = faultsOf(`tools:
  a:
    url: https://a.example/
    metod: super-secret-value
`);
  expect(faults).toEqual([
    expect.stringMatching(/^tools\.a, line 3: unknown property "metod": did you mean "method"\?/),
  ]);
  expect(faults.join()).not.toContain("super-secret");
});

test.each([
  "https://a.example{x}",
  "https://{x}.example/",
  "{x}",
  "https://a.example:{x}/",
  "https://user:pass@a.example/",
  "ftp://a.example/",
])("no argument stands in the host of %s", (url) =>
  expect(faultsOf(`endpoints: [{ name: a, urlTemplate: "${url}" }]`)).toEqual([
    expect.stringContaining("scheme, host and port are fixed"),
  ]),
);
