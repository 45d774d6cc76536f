import { type FormEvent, useState } from "react";
import { ConfirmCall } from "../confirm-call.tsx";
import { TurnView } from "./turn-view.tsx";
import { useChat } from "./use-chat.ts";

/** The tool that a turn of the agent is a call of. */
export const ASK_TOOL = "agent__chat";

/** A conversation with the agent as a caller. The first message of it asks, because its turns may use any tool. */
export function Chat({ operator, as }: { readonly operator: string; readonly as: string }) {
  const { turns, isRunning, say, stop, beginAnew } = useChat(operator, as);
  const [text, setText] = useState("");
  const [robot, setRobot] = useState(turns.at(-1)?.robot ?? "");
  const [isAsking, setAsking] = useState(false);
  const send = () => {
    setText("");
    void say(text.trim(), robot.trim());
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (text.trim() === "" || isRunning) return;
    if (turns.length === 0) setAsking(true);
    else send();
  };
  return (
    <>
      <ol className="turns" aria-label="The conversation">
        {turns.map((turn, index) => (
          <TurnView
            key={index}
            turn={turn}
            onAnswer={index === turns.length - 1 && !isRunning ? (answer) => void say(answer, turn.robot) : undefined}
          />
        ))}
      </ol>
      <form className="card" onSubmit={submit}>
        <label className="field">
          <span className="quiet">a message to the agent</span>
          <textarea className="short" value={text} onChange={({ target }) => setText(target.value)} />
        </label>
        <label className="row">
          <span className="quiet">to the robot</span>
          <input
            value={robot}
            maxLength={128}
            placeholder="the agent itself"
            onChange={({ target }) => setRobot(target.value)}
          />
        </label>
        <div className="row">
          <button type="submit" className="first" disabled={isRunning || text.trim() === ""}>
            Send
          </button>
          {isRunning ? (
            <button type="button" className="bad" onClick={stop}>
              Stop
            </button>
          ) : null}
          {turns.length === 0 ? null : (
            <button type="button" onClick={beginAnew}>
              New conversation
            </button>
          )}
        </div>
        <p className="quiet">The agent uses the tools of {as}, with that caller's accounts and limits.</p>
      </form>
      <ConfirmCall tool={ASK_TOOL} as={as} isOpen={isAsking} onOpenChange={setAsking} onYes={send} />
    </>
  );
}
