import { useEffect, useRef, useSyncExternalStore } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Line {
  readonly label: string;
  readonly colour: string;
  /** Null where there is none: a gap is drawn as a gap. */
  readonly values: readonly (number | null)[];
}

const HEIGHT = 170;
/** A minute of the axis and the legend, in the viewer's words and zone. */
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const minuteAt = (seconds: number): string => minute.format(seconds * 1_000);
const dark = matchMedia("(prefers-color-scheme: dark)");
const onTheme = (changed: () => void) => {
  dark.addEventListener("change", changed);
  return () => dark.removeEventListener("change", changed);
};

/**
 * Lines over time.
 * @param at Unix milliseconds, one for each value
 */
export function Chart({
  at,
  lines,
  label,
}: {
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly label: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(null);
  const isDark = useSyncExternalStore(onTheme, () => dark.matches);
  const looks = JSON.stringify([isDark, lines.map(({ label: name, colour }) => [name, colour])]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const [, series] = JSON.parse(looks) as [boolean, [string, string][]];
    const chart = draw(element, series);
    drawn.current = chart;
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
      drawn.current = null;
    };
  }, [looks]);
  useEffect(
    () => drawn.current?.setData([at.map((ms) => ms / 1_000), ...lines.map(({ values }) => [...values])]),
    [at, lines, looks],
  );
  return <div className="chart quiet" ref={place} role="img" aria-label={label} />;
}

function draw(element: HTMLElement, series: readonly (readonly [label: string, colour: string])[]): uPlot {
  const look = getComputedStyle(element);
  const axis = {
    stroke: look.getPropertyValue("color"),
    grid: { stroke: "rgb(128 128 128 / 0.2)" },
    ticks: { show: false },
  };
  const strokes = series.map(([label, colour]) => ({
    label,
    stroke: look.getPropertyValue(colour),
    width: 1.5,
    points: { show: true, size: 3, filter: alone },
  }));
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [null, 32, null, null],
      axes: [{ ...axis, space: 75, size: 32, values: (_, splits) => splits.map(minuteAt) }, axis],
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      series: [{ label: "at", value: (_, seconds) => (seconds == null ? "--" : minuteAt(seconds)) }, ...strokes],
      cursor: { drag: { x: false } },
    },
    [[], ...series.map(() => [])],
    element,
  );
}

/** A value between two gaps has no line to be seen by. */
function alone(chart: uPlot, series: number): number[] {
  const values = chart.data[series] ?? [];
  return [...values.keys()].filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}
