/** A curve: how something grows. */
export interface Curve {
  readonly title: string;
  readonly xName: string;
  readonly yName: string;
  /** Sorted by x. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

const PANEL = { width: 320, height: 220, left: 56, right: 16, top: 34, bottom: 42 };
const COLUMNS = 2;

/** A picture of the curves side by side. The x axis is logarithmic, the y axis begins at 0. */
export function curvesSvg(curves: readonly Curve[]): string {
  const width = COLUMNS * PANEL.width;
  const height = Math.ceil(curves.length / COLUMNS) * PANEL.height;
  const panels = curves.map((curve, index) => {
    const [x, y] = [(index % COLUMNS) * PANEL.width, Math.floor(index / COLUMNS) * PANEL.height];
    return `<g transform="translate(${x} ${y})">\n${panelOf(curve)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="11" fill="#333">
<title>How a system grows with its callers, services and tools</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${panels.join("\n")}
</svg>
`;
}

function panelOf({ title, xName, yName, points }: Curve): string {
  const { width, height, left, right, top, bottom } = PANEL;
  const logs = points.map(([x]) => Math.log10(x));
  const [low = 0, high = low] = [logs[0], logs.at(-1)];
  const most = Math.max(...points.map(([, y]) => y), Number.MIN_VALUE);
  const xOf = (x: number): number =>
    left + (high === low ? 0.5 : (Math.log10(x) - low) / (high - low)) * (width - left - right);
  const yOf = (y: number): number => height - bottom - (y / most) * (height - top - bottom);
  const at = points.map(([x, y]) => `${xOf(x).toFixed(1)},${yOf(y).toFixed(1)}`);
  const text = (x: number, y: number, anchor: string, words: string): string =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;
  const grid = [0, most / 2, most].map(
    (y) =>
      `<path d="M${left} ${yOf(y).toFixed(1)}H${width - right}" stroke="#ddd"/>${text(left - 6, yOf(y) + 4, "end", short(y))}`,
  );
  return [
    text(width / 2, 16, "middle", `${title}, ${yName}`),
    ...grid,
    `<polyline points="${at.join(" ")}" fill="none" stroke="#0b62a4" stroke-width="2"/>`,
    ...at.map((point) => `<circle cx="${point.replace(",", '" cy="')}" r="3" fill="#0b62a4"/>`),
    ...points.map(([x]) => text(xOf(x), height - bottom + 16, "middle", short(x))),
    text((left + width - right) / 2, height - bottom + 32, "middle", xName),
  ].join("\n");
}

/** A number in few characters. */
const short = (figure: number): string =>
  figure >= 100 || figure === 0 ? Math.round(figure).toLocaleString("en-US") : figure.toPrecision(2);
