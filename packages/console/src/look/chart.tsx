import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Line {
  readonly label: string;
  readonly colour: string;
  /** Null where there is none: a gap is drawn as a gap. */
  readonly values: readonly (number | null)[];
}

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
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const look = getComputedStyle(element);
    const ink = look.getPropertyValue("color");
    const axis = { stroke: ink, grid: { stroke: "rgb(128 128 128 / 0.2)" }, ticks: { show: false } };
    const series = lines.map(({ label: name, colour }) => ({
      label: name,
      stroke: look.getPropertyValue(colour),
      width: 1.5,
      points: { show: false },
    }));
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: 170,
        axes: [axis, axis],
        series: [{}, ...series],
        cursor: { drag: { x: false } },
      },
      [at.map((ms) => ms / 1_000), ...lines.map(({ values }) => [...values])],
      element,
    );
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: 170 }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [at, lines]);
  return <div className="chart quiet" ref={place} role="img" aria-label={label} />;
}
