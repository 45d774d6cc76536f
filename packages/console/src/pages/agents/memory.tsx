import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { memoryOf, memoryTextOf } from "../../api/kept-by-agent.ts";
import { Badge } from "../../look/badge.tsx";
import { LongText } from "../../look/long-text.tsx";
import { Empty, Shown } from "../../look/states.tsx";
import { Moment } from "../../look/time.tsx";
import { visible } from "../../look/visible.ts";
import { More } from "./reading.tsx";

/** The keys of a caller's working memory, and the text under one. */
export function Memory({ as }: { readonly as: string }) {
  const [prefix, setPrefix] = useState("session/");
  const [shown, setShown] = useState<string>();
  const asked = useInfiniteQuery(memoryOf(as, prefix));
  return (
    <>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          setPrefix(String(new FormData(event.currentTarget).get("prefix") ?? ""));
        }}
      >
        <label className="row">
          <span className="quiet">keys that begin with</span>
          <input name="prefix" defaultValue={prefix} maxLength={512} />
        </label>
        <button type="submit">List</button>
      </form>
      <Shown of={asked}>
        {({ pages }) => (
          <>
            {pages[0]?.entries.length === 0 ? <Empty>Nothing is kept under such keys.</Empty> : null}
            <ul className="tree">
              {pages
                .flatMap(({ entries }) => entries)
                .map(({ key, length, expiresAt, isUntrusted }) => (
                  <li key={key} className="row">
                    <button
                      type="button"
                      className="plain breaks"
                      aria-pressed={key === shown}
                      onClick={() => setShown(key)}
                    >
                      {visible(key)}
                    </button>
                    <span className="quiet">
                      {length} characters, until <Moment at={expiresAt} />
                    </span>
                    {isUntrusted ? <Badge tone="warn">words of strangers</Badge> : null}
                  </li>
                ))}
            </ul>
            <More of={asked} isPartial={pages.some(({ isPartial }) => isPartial)} name="More keys" />
          </>
        )}
      </Shown>
      {shown === undefined ? null : <Text key={shown} as={as} of={shown} />}
    </>
  );
}

function Text({ as, of }: { readonly as: string; readonly of: string }) {
  const asked = useInfiniteQuery(memoryTextOf(as, of));
  return (
    <section aria-label={`The text ${of}`}>
      <h3 className="breaks">{visible(of)}</h3>
      <Shown of={asked}>
        {({ pages }) => (
          <>
            <p className="row">
              {pages[0]?.isUntrusted ? <Badge tone="warn">words of strangers</Badge> : null}
              {pages[0]?.origin === undefined ? null : <span className="quiet breaks">{visible(pages[0].origin)}</span>}
              {pages[0]?.tags.map((tag) => (
                <Badge key={tag} tone="quiet">
                  {visible(tag)}
                </Badge>
              ))}
            </p>
            <LongText text={pages.map(({ text }) => text).join("")} />
            <More of={asked} isPartial={pages.some(({ isPartial }) => isPartial)} name="Read on" />
          </>
        )}
      </Shown>
    </section>
  );
}
