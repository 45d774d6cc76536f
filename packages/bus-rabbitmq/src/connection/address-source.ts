import { reasonOf } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { countReloadFailure } from "../metrics.ts";
import { type BrokerAddress, parseBrokerAddresses } from "./broker-address.ts";

/**
 * Where the broker is and as whom to connect, asked anew before each connection: a password may change while the
 * process runs. An address that cannot be read then, or names another user, is logged and changes nothing. The nodes of
 * a cluster have their turns, from one on that is chosen by lot.
 */
export class AddressSource {
  readonly #readUrl: () => string;
  readonly #log: Logger;
  #nodes: readonly [BrokerAddress, ...BrokerAddress[]];
  #turn: number;
  #current: BrokerAddress;
  #trouble: string | undefined;

  /** @throws {RangeError} if the first address cannot be read, and what `readUrl` throws */
  constructor(readUrl: () => string, log: Logger) {
    this.#readUrl = readUrl;
    this.#log = log;
    this.#nodes = parseBrokerAddresses(readUrl());
    this.#turn = Math.floor(Math.random() * this.#nodes.length);
    this.#current = this.#nodes[0];
  }

  /** The address of the last connection, or attempt. */
  get current(): BrokerAddress {
    return this.#current;
  }

  read(): BrokerAddress {
    try {
      const next = parseBrokerAddresses(this.#readUrl());
      if (next[0].user !== this.#current.user)
        throw new RangeError(`it names another user than "${this.#current.user}", the user of this process`);
      this.#nodes = next;
      this.#trouble = undefined;
    } catch (error) {
      const reason = reasonOf(error);
      countReloadFailure("bus_url");
      if (reason !== this.#trouble)
        this.#log.error(
          { broker: this.#current.label, reason },
          "could not reload the broker's address, and uses the last one",
        );
      this.#trouble = reason;
    }
    this.#current = this.#nodes[this.#turn++ % this.#nodes.length] ?? this.#nodes[0];
    return this.#current;
  }
}
