/** Requests that change something, and the environment that prepares them. */
import type { Clock } from '../../../shared/clock.ts';

/** A request that changes something. */
export interface Mutation {
  readonly method: string;
  /** Path without the prefix of the API. */
  readonly path: string;
  readonly json?: unknown;
  /** Sent as it is, with `headers`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Secret of the session that it carries. */
  readonly session?: string;
}

/** Sends a request that must succeed, and returns the body of its answer. */
export type Make = (method: string, path: string, json?: unknown) => Promise<Record<string, unknown>>;

/** Environment of the API. */
export interface MutationRoom {
  readonly make: Make;
  /** A different URL for each list. */
  listUrl(): string;
  /** Makes the source hold back a copy. */
  hold(id: number): Promise<void>;
  /** Puts a line of TOML into the configuration file. */
  editConfig(line: string): Promise<void>;
  /** Restores the state after an installation: no password is set. */
  unset(): Promise<void>;
  /** The administrator has the password of tests and no second factor; the secret of a session, from a login. */
  signIn(): Promise<string>;
  /** A node of this name has been away for an hour. */
  addGoneNode(name: string): Promise<void>;
  /** A user has a second factor that is on. */
  giveFactor(userId: number): Promise<void>;
  readonly clock: Clock;
}

export type Prepare = (room: MutationRoom, serial: number) => Promise<Omit<Mutation, 'method'>>;
