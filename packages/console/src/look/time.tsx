const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const DAY_MS = 24 * 3_600_000;

/** @param at Unix milliseconds; shown in the viewer's time zone */
export function Moment({ at }: { readonly at: number }) {
  const date = new Date(at);
  const isToday = Math.abs(Date.now() - at) < DAY_MS;
  return (
    <time dateTime={date.toISOString()} title={full.format(date)}>
      {isToday ? clock.format(date) : full.format(date)}
    </time>
  );
}

/** A time of another program as it stands there, where it is none that can be shown. */
export function Told({ time }: { readonly time: string }) {
  const at = Date.parse(time);
  return Number.isNaN(at) ? time : <Moment at={at} />;
}

/** @returns milliseconds as people read them, such as `840 ms` or `12.4 s` */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}
