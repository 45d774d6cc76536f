import { useQuery } from "@tanstack/react-query";
import { auditState } from "../../api/audit.ts";
import type { AuditLogState } from "../../api/types.ts";
import { Badge } from "../../look/badge.tsx";
import { Shown } from "../../look/states.tsx";
import { Told } from "../../look/time.tsx";
import { Said } from "./said.tsx";

/** The logs that services keep, and whether their chains hold. */
export function Logs() {
  const asked = useQuery(auditState);
  return (
    <section aria-label="audit logs">
      <div className="head">
        <h2>Logs</h2>
        <button type="button" disabled={asked.isFetching} onClick={() => void asked.refetch()}>
          {asked.isFetching ? "Checking…" : "Check again"}
        </button>
      </div>
      <Shown of={asked}>
        {({ logs, problems }) => (
          <>
            <Said problems={problems} />
            {logs.length === 0 ? null : (
              <div className="card flush">
                <table className="stacks">
                  <thead>
                    <tr>
                      <th>service</th>
                      <th>file</th>
                      <th>lines</th>
                      <th>chain</th>
                    </tr>
                  </thead>
                  <tbody>
                    {logs.map((log) => (
                      <LogRow key={`${log.host} ${log.file} ${log.log}`} log={log} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

function LogRow({
  log: { services, host, file, first, last, checked, faults, furtherFaults },
}: {
  readonly log: AuditLogState;
}) {
  const isWhole = faults.length + furtherFaults === 0;
  const further = furtherFaults === 0 ? [] : [`${furtherFaults} further faults`];
  return (
    <tr>
      <td className="breaks">{services.join(", ")}</td>
      <td className="breaks">
        {file} <span className="quiet">on {host}</span>
      </td>
      <td>
        {first === undefined || last === undefined ? "none" : `${first.seq} to ${last.seq}`}
        {first === undefined || last === undefined ? null : (
          <p className="quiet">
            <Told time={first.time} /> to <Told time={last.time} />
          </p>
        )}
      </td>
      <td className="breaks">
        {isWhole ? <Badge tone="good">whole</Badge> : <Badge tone="bad">broken</Badge>}{" "}
        {checked === undefined ? "no line to check" : `lines ${checked.from} to ${checked.to} checked`}
        {checked === undefined || checked.from === first?.seq ? null : (
          <p className="quiet">“rockbot audit verify” checks those before.</p>
        )}
        {isWhole ? null : (
          <ul>
            {[...faults.map(({ after, message }) => `After line ${after}: ${message}`), ...further].map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        )}
      </td>
    </tr>
  );
}
