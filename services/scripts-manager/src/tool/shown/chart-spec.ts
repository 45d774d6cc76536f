import { isRecord } from "@rockbot/base";

/** A chart as data, or why it is none. */
export type ChartSpec =
  | { readonly kind: ChartKind; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly kind: ChartKind; readonly refused: string };
export type ChartKind = "plotly" | "vega" | "vega-lite";

const MAX_DEPTH = 40;
const MAX_PARTS = 200_000;

/**
 * Reads the JSON of a chart that a script shows. A chart is data. A page that draws it must not evaluate
 * anything or ask another machine, so a chart with an expression or an address is refused.
 */
export function chartSpec(library: "plotly" | "vega", json: string): ChartSpec {
  const spec = jsonObject(json);
  const schema = spec?.["$schema"];
  const kind = library === "plotly" ? library : String(schema).includes("/vega-lite/") ? "vega-lite" : "vega";
  if (spec === undefined) return { kind, refused: "it is no JSON object" };
  const fault = library === "plotly" ? faultOf(spec, plotlyFault) : faultOf(spec, vegaFault);
  return fault === undefined ? { kind, spec } : { kind, refused: fault };
}

/** Reads an object from JSON that a script wrote; undefined for all else. */
export function jsonObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A part of a spec, and where it stands. */
interface Part {
  readonly key: string;
  readonly value: unknown;
  readonly path: readonly string[];
  /** It is one of the values that the chart shows, and says nothing about how. */
  readonly isData: boolean;
}

/** Says why a part is refused; `data` if all below it is data. */
type Rule = (part: Part) => string | "data" | undefined;

function faultOf(spec: object, rule: Rule): string | undefined {
  const left: Part[] = [{ key: "", value: spec, path: [], isData: false }];
  for (let count = 0, part = left.pop(); part !== undefined; part = left.pop(), count++) {
    const { key, value, path } = part;
    if (count > MAX_PARTS) return `it has more than ${MAX_PARTS} parts`;
    if (path.length > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} deep`;
    if (UNSAFE_KEYS.has(key)) return `it has a part with the name ${key}`;
    const verdict = part.isData || path.length === 0 ? undefined : rule(part);
    const isData = part.isData || verdict === "data";
    if (verdict !== undefined && !isData) return `${verdict} at ${path.join(".").slice(0, 200)}`;
    if (typeof value !== "object" || value === null) continue;
    const isList = Array.isArray(value);
    for (const [name, below] of Object.entries(value))
      left.push({ key: isList ? key : name, value: below, path: [...path, name], isData });
  }
  return undefined;
}

const UNSAFE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
/** What a page would ask another machine for, or run. */
const ADDRESS = /^\s*(?:[a-z][a-z0-9+.-]*:)?\/\/|^\s*(?:javascript|vbscript|data|blob|file|about):/i;
/** An address where a colour may stand, also as an escape of CSS spells it. */
const STYLE_ADDRESS = /(?:\burl|\\[\da-f]{1,6}\s?[\w\\]{0,20})\s{0,9}\(/i;
const MARKUP = /<\s*(?:a|img|image|script|iframe|object|embed|svg|link|style|form)\b/i;

const isText = (value: unknown): value is string => typeof value === "string";

/** Parts of Vega and Vega-Lite whose texts are expressions, or addresses. */
const VEGA_EXPRESSIONS: ReadonlySet<string> = new Set("expr signal signals events usermeta loader".split(" "));
const VEGA_TEXTS: ReadonlySet<string> = new Set(
  "calculate update filter and or not test on clear translate zoom labelExpr force".split(" "),
);
const VEGA_ADDRESSES: ReadonlySet<string> = new Set(["url", "href", "src"]);

function vegaFault({ key, value, path }: Part): string | undefined {
  const above = path.at(-2);
  if ((key === "values" && (above === "data" || path.at(-3) === "data")) || (key === "datasets" && path.length === 1))
    return "data";
  if (key === "$schema" && path.length === 1) return undefined;
  if (VEGA_ADDRESSES.has(key)) return "it has an address";
  if (VEGA_EXPRESSIONS.has(key) || (VEGA_TEXTS.has(key) && isText(value))) return "it has an expression";
  if ((key === "mark" || key === "type") && value === "image") return "it shows images of other places";
  if (key === "element" && path.includes("bind")) return "it has controls elsewhere in the page";
  return textFault(value);
}

/** Kinds of traces that fetch maps. */
const PLOTLY_MAPS: ReadonlySet<unknown> = new Set(
  "scattergeo choropleth scattermapbox choroplethmapbox densitymapbox scattermap choroplethmap densitymap".split(" "),
);
const PLOTLY_PARTS: ReadonlySet<string> = new Set(["data", "layout", "frames"]);
const PLOTLY_SOURCE = /(?:^|[.\]])(?:source|src|url|href|geojson|topojsonURL|plotlyServerURL)$/;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/;

function plotlyFault({ key, value, path }: Part): string | undefined {
  if (path.length === 1 && !PLOTLY_PARTS.has(key)) return "it has a part that is no data of a chart";
  if (key === "transforms") return "it has transforms";
  if (/^(?:frames\.\d+\.)?data\.\d+\.type$/.test(path.join(".")) && PLOTLY_MAPS.has(value)) return "it fetches a map";
  if (PLOTLY_SOURCE.test(key) && isText(value)) return PICTURE.test(value) ? undefined : "it has an address";
  if (!isText(value)) return undefined;
  // What stands in a list is shown, such as the names of points, and is none of the chart's own settings.
  return /^\d+$/.test(path.at(-1) ?? "") && !MARKUP.test(value) ? undefined : textFault(value);
}

function textFault(value: unknown): string | undefined {
  if (!isText(value)) return undefined;
  if (ADDRESS.test(value) || STYLE_ADDRESS.test(value)) return "it has an address";
  return MARKUP.test(value) ? "it has markup" : undefined;
}
