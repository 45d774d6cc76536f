import type { Line } from "./screen-lines.ts";

/** One terminal of the picture. */
export interface Pane {
  readonly title: string;
  readonly rows: number;
  readonly lines: readonly Line[];
}

export interface AnimatedSvgOptions {
  readonly columns: number;
  /** What the picture shows, for those who do not see it. */
  readonly label: string;
  /** Longer pauses are cut to this. @default 1200 */
  readonly maxPauseMs?: number | undefined;
  /** How long the end stays before it begins anew. @default 6000 */
  readonly endMs?: number | undefined;
}

const CHAR = 8.4;
const LINE = 19;
const PAD = 14;
const BAR = 30;

const palette: Readonly<Record<number, string>> = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  34: "#79c0ff",
  35: "#d2a8ff",
  36: "#76e3ea",
  90: "#8b949e",
};

/**
 * Terminals, one above the other, that fill up as they did, again and again: an SVG with CSS animation and without
 * scripts, so that it moves as an image, too. Without animation, or where readers want none, it shows the end.
 */
export function animatedSvg(
  panes: readonly Pane[],
  { columns, label, maxPauseMs = 1200, endMs = 6000 }: AnimatedSvgOptions,
): string {
  const pace = paceOf(panes, maxPauseMs);
  const wholeMs = Math.round(pace.wholeMs + endMs);
  const percent = (atMs: number): string => ((100 * pace.at(atMs)) / wholeMs).toFixed(2);
  const width = Math.ceil(columns * CHAR + 2 * PAD);
  const styles: string[] = [];
  const bodies: string[] = [];
  const classes = new Map<string, string>();
  let top = 0;
  for (const [index, { title, rows, lines }] of panes.entries()) {
    const height = BAR + rows * LINE + 2 * PAD;
    const over = Math.max(0, lines.length - rows);
    bodies.push(
      `<svg y="${top}" width="${width}" height="${height}"><rect class="pane" width="${width}" height="${height}" rx="8"/><text class="title" x="${width / 2}" y="20" text-anchor="middle">${escapeXml(title)}</text>`,
      `<svg x="${PAD}" y="${BAR + PAD - 4}" width="${columns * CHAR}" height="${rows * LINE + 4}"><g class="scroll${index}">`,
      ...lines.flatMap((line, row) => line.map((span) => textOf(span, row, appear(percent(span.atMs))))),
      "</g></svg></svg>",
    );
    styles.push(
      scrollStyle(index, lines, rows, percent),
      `.scroll${index} { transform: translateY(${-over * LINE}px); animation: scroll${index} ${wholeMs}ms step-end infinite; }`,
    );
    top += height + 8;
  }
  for (const [at, name] of classes)
    styles.push(
      `.${name} { animation-name: ${name}; } @keyframes ${name} { 0% { opacity: 0; } ${at}% { opacity: 1; } }`,
    );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top - 8}" width="${width}" height="${top - 8}" role="img" aria-label="${escapeXml(label)}">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }
.pane { fill: #0d1117; stroke: #30363d; }
.title { fill: #8b949e; font-size: 12px; }
.t { animation-duration: ${wholeMs}ms; animation-timing-function: step-end; animation-iteration-count: infinite; }
${styles.join("\n")}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
</style>
${bodies.join("\n")}
</svg>
`;

  function appear(at: string): string {
    const name = classes.get(at) ?? `a${classes.size}`;
    classes.set(at, name);
    return name;
  }
}

function textOf({ column, text, color }: Line[number], row: number, name: string): string {
  const fill =
    color === undefined || palette[color] === undefined
      ? ""
      : ` fill="${palette[color]}" style="fill:${palette[color]}"`;
  const shown = text.trimEnd();
  if (shown === "") return "";
  const place = `x="${(column * CHAR).toFixed(1)}" y="${(row + 1) * LINE - 5}" textLength="${(shown.length * CHAR).toFixed(1)}"`;
  return `<text class="t ${name}" ${place}${fill} xml:space="preserve">${escapeXml(shown)}</text>`;
}

/** Where the lines stand at what time: each line beyond the last row moves all up by one. */
function scrollStyle(index: number, lines: readonly Line[], rows: number, percent: (atMs: number) => string): string {
  const steps = lines.flatMap((line, row) => {
    const first = line[0];
    return row < rows || first === undefined
      ? []
      : [`${percent(first.atMs)}% { transform: translateY(${-(row - rows + 1) * LINE}px); }`];
  });
  return `@keyframes scroll${index} { 0% { transform: translateY(0); } ${steps.join(" ")} }`;
}

/** Real time to shown time, without long pauses. */
function paceOf(
  panes: readonly Pane[],
  maxPauseMs: number,
): { readonly wholeMs: number; readonly at: (atMs: number) => number } {
  const times = [...new Set(panes.flatMap(({ lines }) => lines.flat().map(({ atMs }) => atMs)))].sort((a, b) => a - b);
  const shown = new Map<number, number>();
  let now = 300;
  for (const [index, time] of times.entries()) {
    now += index === 0 ? 0 : Math.min(maxPauseMs, time - (times[index - 1] ?? 0));
    shown.set(time, now);
  }
  return { wholeMs: now, at: (atMs) => shown.get(atMs) ?? 0 };
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
