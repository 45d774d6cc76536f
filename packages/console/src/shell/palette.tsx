import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useState } from "react";
import { me, tools } from "../api/queries.ts";
import { waitingCalls } from "../api/waiting.ts";
import { visible } from "../look/visible.ts";
import { pages } from "../pages/pages.ts";

/** Places that are shown at once. */
const MAX_SHOWN = 12;

/** Ctrl K or Cmd K: to any page, tool or call, by typing. */
export function Palette({
  isOpen,
  onOpenChange,
}: {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}) {
  useEffect(() => {
    const open = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      onOpenChange(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, [onOpenChange]);
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog" aria-label="Go to">
          <Places onChosen={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Places({ onChosen }: { readonly onChosen: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const { data = [] } = useQuery(tools);
  const { data: who } = useQuery(me);
  const { data: waiting } = useQuery({ ...waitingCalls, enabled: who?.operator.may.includes("decide") === true });
  const navigate = useNavigate();
  const wanted = text.trim().toLowerCase();
  const places = [
    ...pages.map(({ to, name }) => ({ name, go: () => navigate({ to }) })),
    ...(waiting?.calls ?? []).map(({ id, tool, caller }) => ({
      name: `Waiting: ${visible(tool)} for ${visible(caller)} (${id})`,
      go: () => navigate({ to: "/waiting/$id", params: { id } }),
    })),
    ...data.map(({ name }) => ({ name, go: () => navigate({ to: "/tools/$name", params: { name } }) })),
  ].filter(({ name }) => name.toLowerCase().includes(wanted));
  if (/^[\w-]{8,}$/.test(wanted))
    places.push({
      name: `The call ${text.trim()}`,
      go: () => navigate({ to: "/calls/$id", params: { id: text.trim() } }),
    });
  const shown = places.slice(0, MAX_SHOWN);
  const go = (index: number) => {
    const place = shown[index];
    if (place === undefined) return;
    onChosen();
    void place.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") go(chosen);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || shown.length === 0) return;
    event.preventDefault();
    setChosen((chosen + step + shown.length) % shown.length);
  };
  return (
    <>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="places"
        aria-activedescendant={shown[chosen] === undefined ? undefined : `place-${chosen}`}
        aria-label="A page, a tool, or the id of a call"
        placeholder="A page, a tool, or the id of a call"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="places" role="listbox" aria-label="Places">
        {shown.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="option"
            id={`place-${index}`}
            aria-selected={index === chosen}
            onClick={() => go(index)}
          >
            {name}
          </button>
        ))}
      </div>
      {shown.length === 0 ? <p className="quiet">There is no such page, tool or call.</p> : null}
    </>
  );
}
