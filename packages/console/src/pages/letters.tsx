import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { decide, type Letter, type Outcome, readLetter, readLetters } from "../api/letters.ts";
import { Confirm } from "../look/confirm.tsx";
import { Empty, Shown } from "../look/states.tsx";
import { Moment } from "../look/time.tsx";

const keyOf = ({ service, id }: Letter): string => `${service} ${id}`;
type Action = "replay" | "purge";

/** What the reasons mean. */
const REASONS: Readonly<Record<string, string>> = {
  rejected: "The service had no caller to answer.",
  failed: "The handler threw twice.",
  crashed: "Consumers died over it.",
  expired: "No service took it in time. Its caller has an error already.",
};

export function LettersPage() {
  const cache = useQueryClient();
  const asked = useQuery({
    queryKey: ["letters"],
    queryFn: ({ signal }) => readLetters(signal),
    refetchInterval: 10_000,
  });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [wanted, setWanted] = useState<Action>();
  const decided = useMutation({
    mutationFn: ({ action, letters }: { readonly action: Action; readonly letters: readonly Letter[] }) =>
      decide(action, letters),
    onSettled: async () => {
      setChosen(new Set());
      await cache.invalidateQueries({ queryKey: ["letters"] });
    },
  });
  const toggle = (key: string) =>
    setChosen((before) => new Set(before.has(key) ? [...before].filter((one) => one !== key) : [...before, key]));
  return (
    <>
      <h1>Dead letters</h1>
      <p className="quiet">
        Messages that no service could handle. A replayed one runs now as its caller, and you get the answer. It stays
        here if the error may pass.
      </p>
      <Shown of={asked}>
        {(letters) => {
          if (letters.length === 0) return <Empty>There are none.</Empty>;
          const those = letters.filter((letter) => chosen.has(keyOf(letter)));
          return (
            <>
              <div className="row">
                <button type="button" disabled={those.length === 0} onClick={() => setWanted("replay")}>
                  Replay {those.length}
                </button>
                <button type="button" className="bad" disabled={those.length === 0} onClick={() => setWanted("purge")}>
                  Purge {those.length}
                </button>
                <button type="button" onClick={() => setChosen(new Set(letters.map(keyOf)))}>
                  Choose all {letters.length}
                </button>
              </div>
              <Table letters={letters} chosen={chosen} onToggle={toggle} />
              <Confirm
                isOpen={wanted !== undefined}
                onOpenChange={(isOpen) => isOpen || setWanted(undefined)}
                title={`${wanted === "purge" ? "Purge" : "Replay"} ${those.length} of ${letters.length}?`}
                yes={`${wanted === "purge" ? "Purge" : "Replay"} ${those.length}`}
                onYes={() => wanted !== undefined && decided.mutate({ action: wanted, letters: those })}
              >
                {wanted === "purge"
                  ? "They are gone for good, and their callers hear nothing."
                  : "Each call runs now, whatever it does outside."}
              </Confirm>
            </>
          );
        }}
      </Shown>
      {decided.data === undefined ? null : <Outcomes outcome={decided.data} />}
    </>
  );
}

function Table({
  letters,
  chosen,
  onToggle,
}: {
  readonly letters: readonly Letter[];
  readonly chosen: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
}) {
  return (
    <section className="card flush">
      <table className="stacks">
        <thead>
          <tr>
            <th>chosen</th>
            <th>parked</th>
            <th>service</th>
            <th>tool</th>
            <th>why</th>
          </tr>
        </thead>
        <tbody>
          {letters.map((letter) => (
            <LetterRow
              key={keyOf(letter)}
              letter={letter}
              isChosen={chosen.has(keyOf(letter))}
              onToggle={() => onToggle(keyOf(letter))}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Outcomes({ outcome: { done, kept, words } }: { readonly outcome: Outcome }) {
  return (
    <div role="status">
      <p className={kept === 0 ? "is-good" : "is-warn"}>
        {done} removed, {kept} kept.
      </p>
      {words.length === 0 ? null : <pre>{words.join("\n")}</pre>}
    </div>
  );
}

function LetterRow({
  letter,
  isChosen,
  onToggle,
}: {
  readonly letter: Letter;
  readonly isChosen: boolean;
  readonly onToggle: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <tr>
        <td>
          <input
            type="checkbox"
            checked={isChosen}
            onChange={onToggle}
            aria-label={`Choose ${letter.toolName ?? "message"} ${letter.id}`}
          />
        </td>
        <td>{letter.parkedAt === undefined ? "unknown" : <Moment at={Date.parse(letter.parkedAt)} />}</td>
        <td>{letter.service}</td>
        <td>
          <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {letter.toolName ?? "no tool call"}
          </button>
        </td>
        <td>
          {letter.reason} <span className="quiet">{REASONS[letter.reason ?? ""]}</span>
        </td>
      </tr>
      {isOpen ? (
        <tr>
          <td colSpan={5}>
            <Whole letter={letter} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function Whole({ letter: { service, id } }: { readonly letter: Letter }) {
  const asked = useQuery({
    queryKey: ["letter", service, id],
    queryFn: async ({ signal }) => (await readLetter(service, id, signal)) ?? null,
  });
  return (
    <Shown of={asked}>
      {(letter) =>
        letter === null ? (
          <p>It is not there any more.</p>
        ) : (
          <pre>{JSON.stringify({ ...letter, kind: undefined }, undefined, 2)}</pre>
        )
      }
    </Shown>
  );
}
