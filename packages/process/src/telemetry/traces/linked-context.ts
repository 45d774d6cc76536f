import { AsyncResource } from "node:async_hooks";
import { type Context, ROOT_CONTEXT } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";

/**
 * The values that a context adds to those of the one below it. The API's own copies a Map with each value that is set.
 */
class LinkedContext implements Context {
  readonly #below: Context;
  readonly #key: symbol;
  readonly #value: unknown;

  constructor(below: Context, key: symbol, value: unknown) {
    this.#below = below;
    this.#key = key;
    this.#value = value;
  }

  getValue(key: symbol): unknown {
    return key === this.#key ? this.#value : this.#below.getValue(key);
  }

  /** A value that takes the place of the last one leaves no trace of it, so that spans in spans make no chain. */
  setValue(key: symbol, value: unknown): Context {
    return new LinkedContext(key === this.#key ? this.#below : this, key, value);
  }

  deleteValue(key: symbol): Context {
    return this.setValue(key, undefined);
  }
}

/** The root of all contexts here: nothing is in it. */
const root = new LinkedContext(ROOT_CONTEXT, Symbol("rockbot.root"), undefined);

/** Carries contexts along promises and callbacks; those that are made from its own are cheap to make, and to enter. */
export class LinkedContextManager extends AsyncLocalStorageContextManager {
  override active(): Context {
    const active = super.active();
    return active === ROOT_CONTEXT ? root : active;
  }

  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    if (context === this.active()) return fn.apply(thisArg, args);
    return new Scope().runInAsyncScope(() => {
      this.attach(context);
      return fn.apply(thisArg, args);
    });
  }
}

/**
 * Remembers what all of the process's storages hold where it is made, and puts that back after what runs in it.
 * `AsyncLocalStorage.run` makes a new table of them to put one back, which is half of what it costs.
 */
class Scope extends AsyncResource {
  constructor() {
    super("rockbot.context");
  }
}
