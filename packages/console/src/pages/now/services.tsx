import type { Overview, ServiceState } from "../../api/types.ts";
import { Badge, type Tone } from "../../look/badge.tsx";
import { Empty } from "../../look/states.tsx";
import { duration } from "../../look/time.tsx";

const TONES: Readonly<Record<ServiceState["state"], Tone>> = { ready: "good", gone: "bad", unusable: "warn" };
const UNKNOWN = <span className="quiet">unknown</span>;

/** Each service with its state, and what it does. Its name shows its charts. */
export function Services({
  services,
  onChosen,
}: Pick<Overview, "services"> & { readonly onChosen: (service: string) => void }) {
  if (services.length === 0) return <Empty>No service has been heard of yet.</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keys, too
    <section className="card flush" aria-label="Services" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>service</th>
            <th>state</th>
            <th className="number">instances</th>
            <th>version</th>
            <th className="number">tools</th>
            <th className="number">calls a second</th>
            <th className="number">p50</th>
            <th className="number">p95</th>
            <th className="number">failed, last hour</th>
            <th className="number">waiting</th>
          </tr>
        </thead>
        <tbody>
          {services.map((service) => (
            <Row key={service.name} service={service} onChosen={onChosen} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({
  service: { name, state, instances, tools, reason, versions, calls, backlog },
  onChosen,
}: {
  readonly service: ServiceState;
  readonly onChosen: (service: string) => void;
}) {
  return (
    <tr>
      <td>
        <button type="button" className="plain" title={`Show the charts of ${name}`} onClick={() => onChosen(name)}>
          {name}
        </button>
      </td>
      <td>
        <Badge tone={TONES[state]}>{state}</Badge> {reason}
      </td>
      <td className="number">{instances}</td>
      <td>{versions.length === 0 ? UNKNOWN : versions.join(", ")}</td>
      <td className="number">{tools}</td>
      <td className="number">{calls === null ? UNKNOWN : calls.perSecond.toFixed(1)}</td>
      <td className="number">{calls === null ? UNKNOWN : calls.p50 === null ? "" : duration(calls.p50)}</td>
      <td className="number">{calls === null ? UNKNOWN : calls.p95 === null ? "" : duration(calls.p95)}</td>
      <td className="number">
        {calls === null ? UNKNOWN : calls.failed}
        {Object.entries(calls?.codes ?? {}).map(([code, count]) => (
          <div key={code} className="quiet">
            {code} {count}
          </div>
        ))}
      </td>
      <td className="number">
        {backlog === null ? UNKNOWN : backlog}
        {calls !== null && calls.oldestMs > 0 ? <div className="quiet">oldest {duration(calls.oldestMs)}</div> : null}
      </td>
    </tr>
  );
}
