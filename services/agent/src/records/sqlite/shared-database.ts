import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { StoreUnavailableError } from "@rockbot/records";
import { inTransaction, unavailable } from "@rockbot/records/sqlite";

export type Row = Readonly<Record<string, SQLOutputValue>>;

/**
 * One connection for several tables: one change after the other, as a connection has one transaction. Its errors are
 * StoreUnavailableError.
 */
export class SharedDatabase implements AsyncDisposable {
  readonly where: string;
  readonly #db: DatabaseSync;
  readonly #busyTimeoutMs: number;
  /** The statements by their text. Each turn reads several times, and most of a short read is its preparation. */
  readonly #statements = new Map<string, StatementSync>();
  #changing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @param db is closed when this is disposed of */
  constructor(file: string, db: DatabaseSync, busyTimeoutMs: number) {
    this.where = `the file ${file}`;
    this.#db = db;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** Runs `change` in a transaction. @param what is done, for an error: "save to" */
  change<T>(what: string, change: () => T): Promise<T> {
    const changing = this.#changing.then(async () => {
      try {
        this.#check();
        return await inTransaction(this.#db, this.#busyTimeoutMs, change);
      } catch (error) {
        throw unavailable(`${what} ${this.where}`, error);
      }
    });
    this.#changing = changing.catch(() => {});
    return changing;
  }

  /** Runs `look`, which changes nothing. */
  read<T>(look: () => T): T {
    try {
      this.#check();
      return look();
    } catch (error) {
      throw unavailable(`read in ${this.where}`, error);
    }
  }

  /** @param sql one of a few texts, as each is kept: values are arguments */
  one(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): readonly Row[] {
    return this.#prepared(sql).all(...values);
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#prepared(sql).run(...values);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#changing;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#db.close();
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #check(): void {
    if (this.#isClosed) throw new StoreUnavailableError(`Cannot use ${this.where}: it is closed`);
  }
}
