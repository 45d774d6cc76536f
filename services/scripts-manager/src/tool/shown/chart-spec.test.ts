import { expect, test } from "vitest";
import { chartSpec } from "./chart-spec.ts";

const LITE = "https://vega.github.io/schema/vega-lite/v5.json";
const bar = {
  $schema: LITE,
  title: "Sold: a < b",
  data: { values: [{ a: "A", url: "https://example.com", expr: "1" }] },
  mark: { type: "bar", tooltip: true },
  encoding: {
    x: { field: "a", type: "nominal" },
    y: { aggregate: "count" },
    color: { condition: { test: { field: "a", equal: 1 }, value: "red" } },
  },
  params: [{ name: "zoom", select: { type: "interval" }, bind: "scales" }],
};
const figure = {
  data: [
    { type: "scatter", x: ["https://example.com/1", 2], y: [1, 2], text: ["a", "b"] },
    { type: "heatmap", z: [[1]] },
  ],
  layout: {
    title: { text: "T" },
    mapbox: { style: "light" },
    template: { data: { scattergeo: [{ type: "scattergeo" }] } },
  },
};
const image = "data:image/png;base64,iVBORw0KGgo=";

test("a chart that is data alone is given as it is", () => {
  expect(chartSpec("vega", JSON.stringify(bar))).toEqual({ kind: "vega-lite", spec: bar });
  expect(chartSpec("plotly", JSON.stringify(figure))).toEqual({ kind: "plotly", spec: figure });
  const datasets = { ...bar, data: { name: "d" }, datasets: { d: [{ url: "http://x", signal: "s" }] } };
  expect(chartSpec("vega", JSON.stringify(datasets))).toEqual({ kind: "vega-lite", spec: datasets });
  const vega = {
    $schema: "https://vega.github.io/schema/vega/v6.json",
    data: [{ name: "t", values: [{ url: "x" }] }],
    marks: [],
  };
  expect(chartSpec("vega", JSON.stringify(vega))).toEqual({ kind: "vega", spec: vega });
  const logo = { ...figure, layout: { images: [{ source: image }] } };
  expect(chartSpec("plotly", JSON.stringify(logo))).toEqual({ kind: "plotly", spec: logo });
});

test.each<[string, object, RegExp]>([
  ["data elsewhere", { data: { url: "data.csv" } }, /address at data\.url/],
  [
    "data elsewhere in a lookup",
    { transform: [{ lookup: "a", from: { data: { url: "x" } } }] },
    /address at transform/,
  ],
  ["a calculation", { transform: [{ calculate: "datum.a * 2", as: "b" }] }, /expression at transform\.0\.calculate/],
  ["a filter", { transform: [{ filter: "datum.a > 1" }] }, /expression/],
  ["a filter in a list", { transform: [{ filter: { and: [{ field: "a" }, "datum.a > 1"] } }] }, /expression at .*and/],
  ["an expression", { width: { expr: "1" } }, /expression at width\.expr/],
  ["a signal", { marks: [{ encode: { update: { x: { signal: "s" } } } }] }, /expression/],
  ["signals", { signals: [] }, /expression/],
  ["a condition", { encoding: { color: { condition: { test: "datum.a", value: 1 } } } }, /expression/],
  ["an event", { params: [{ select: { type: "point", on: "click[event.shiftKey]" } }] }, /expression/],
  ["a link", { encoding: { href: { field: "a" } } }, /address/],
  ["images", { mark: "image", encoding: { url: { field: "a" } } }, /images|address/],
  ["images of a mark", { layer: [{ mark: { type: "image" } }] }, /images/],
  ["an address as a value", { encoding: { x: { value: "//example.com/x" } } }, /address/],
  ["a script as a value", { encoding: { x: { value: " JavaScript:alert(1)" } } }, /address/],
  ["an address as a colour", { config: { background: "url(//example.com/)" } }, /address at config\.background/],
  ["an address in escapes", { mark: { type: "bar", fill: "\\75rl(//example.com)" } }, /address at mark\.fill/],
  [
    "controls elsewhere",
    { params: [{ name: "p", bind: { input: "text", element: "body" } }] },
    /controls elsewhere in the page at params/,
  ],
  ["options of its page", { usermeta: { embedOptions: {} } }, /expression/],
  ["markup", { title: "<img src=x onerror=alert(1)>" }, /markup/],
])("a Vega chart with %s is refused in words", (_, change, words) => {
  expect(chartSpec("vega", JSON.stringify({ ...bar, ...change }))).toEqual({
    kind: "vega-lite",
    refused: expect.stringMatching(words),
  });
});

test.each<[string, object, RegExp]>([
  [
    "an image elsewhere",
    { layout: { images: [{ source: "https://example.com/x.png" }] } },
    /address at layout\.images\.0\.source/,
  ],
  ["an image that is a page", { layout: { images: [{ source: "data:image/svg+xml,<svg/>" }] } }, /address/],
  [
    "an image that a button sets",
    { layout: { updatemenus: [{ buttons: [{ args: [{ "images[0].source": "//x" }] }] }] } },
    /address/,
  ],
  ["transforms", { data: [{ type: "scatter", transforms: [] }] }, /transforms/],
  ["a map", { data: [{ type: "choropleth" }] }, /map at data\.0\.type/],
  ["a style elsewhere", { layout: { mapbox: { style: "https://example.com/style" } } }, /address/],
  ["settings of its page", { config: { plotlyServerURL: "x" } }, /no data/],
  ["links", { layout: { title: { text: '<a href="https://example.com">x</a>' } } }, /markup/],
  ["links on points", { data: [{ text: ["<A HREF=x>"] }] }, /markup/],
])("a Plotly chart with %s is refused in words", (_, change, words) => {
  expect(chartSpec("plotly", JSON.stringify({ ...figure, ...change }))).toEqual({
    kind: "plotly",
    refused: expect.stringMatching(words),
  });
});

test.each([
  ["no JSON", "{", /no JSON object/],
  ["a list", "[]", /no JSON object/],
  ["nothing", "null", /no JSON object/],
  ["a hidden prototype", '{"data":[{"x":[{"\\u005f_proto__":{}}]}]}', /__proto__/],
  ["much depth", `{"data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /40 deep/],
  ["many parts", `{"data":[${"1,".repeat(210_000)}1]}`, /200000 parts/],
])("a chart that is %s is refused in words", (_, json, words) => {
  expect(chartSpec("plotly", json)).toEqual({ kind: "plotly", refused: expect.stringMatching(words) });
});
