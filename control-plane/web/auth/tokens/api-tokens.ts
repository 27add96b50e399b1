/** API tokens of the cluster: authentication by key, and every change of a token. HTTP is in `token-routes.ts`. */
import { isDeepStrictEqual } from 'node:util';
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import type { CodedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import type { TokenCreate, TokenUpdate } from '../../../../shared/api/tokens-api.ts';
import type { Clock } from '../../../../shared/clock.ts';
import { conflict, unauthorized } from '../../../api/api-error.ts';
import type { Author, Caller } from '../../../api/caller.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import { deleteSessionsOfToken } from '../sessions/session-store.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { refuseGuessable } from './guessable-key.ts';
import { hashTokenKey, isTokenKey, newTokenKey, prefixOf } from './token-key.ts';
import { TokenMemory } from './token-memory.ts';
import * as store from './token-store.ts';
import type { HashedKey, HashedToken, StoredToken } from './token-store.ts';

/** Maximum number of tokens: each node has all of them in memory. */
const MAX_TOKENS = 1000;
/** Minimum time between two writes of a token's use. */
const USED_STEP_MS = 60_000;

/** Dependencies of tokens. */
export interface ApiTokensParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, 'remove'>;
}

/** All tokens. Throws ApiError and DatabaseUnavailable. */
export class ApiTokens {
  private readonly parts: ApiTokensParts;
  private readonly memory: TokenMemory;
  /** Time at which this node last recorded the use of each token. */
  private readonly writtenMs = new Map<number, number>();

  constructor(parts: ApiTokensParts) {
    this.parts = parts;
    this.memory = new TokenMemory(parts.database, parts.clock);
  }

  /** The caller that is authenticated by a key; null if the key is invalid. @throws {DatabaseUnavailable} */
  async callerOf(key: string): Promise<Caller | null> {
    if (!isTokenKey(key)) return null;
    const token = await this.memory.find(hashTokenKey(key));
    if (token === null) return null;
    await this.noteUse(token);
    const { id: tokenId, role } = token;
    return { username: `token ${token.name}`, role, userId: null, tokenId, sessionId: null, clientIds: null };
  }

  /**
   * Returns a function that locks the token with this key until the transaction ends, or throws 401 if it no longer
   * exists.
   */
  confirmed(key: string): (tx: Queryable) => Promise<void> {
    return async (tx) => {
      if (!(await store.holdKey(tx, hashTokenKey(key)))) throw unauthorized('wrong user name or password');
    };
  }

  /** All tokens, by name. */
  list(): Promise<StoredToken[]> {
    return store.listTokens(this.parts.database);
  }

  /** One token; 404 if there is none. */
  read(id: number): Promise<StoredToken> {
    return store.existingToken(this.parts.database, id);
  }

  /** Creates a token; its key is not available again. 409 if there are too many. */
  async create(author: Author, { name, role }: TokenCreate): Promise<{ token: StoredToken; key: string }> {
    const key = newTokenKey();
    const createdAt = new Date(this.parts.clock.nowMs());
    const token = await this.parts.database
      .transaction(async (tx) => {
        if ((await store.countTokens(tx)) >= MAX_TOKENS)
          throw conflict(`there are already ${MAX_TOKENS} API tokens; revoke one first`);
        const made = await store.insertToken(tx, { ...hashed(key), name, role, createdAt });
        await recordAudit(tx, {
          actor: author,
          subject: subjectOf(made),
          action: codedAction('created'),
          after: noted(made),
        });
        return made;
      })
      .finally(() => this.memory.remove());
    return { token, key };
  }

  /** Changes name, role or key; rights of the old key or role end immediately. 404, or 409 for a key in use. */
  async update(author: Author, id: number, { name, role, key }: TokenUpdate): Promise<StoredToken> {
    if (key !== undefined) await refuseGuessable(key);
    return this.parts.database
      .transaction(async (tx) => {
        const before = await store.existingToken(tx, id, 'FOR UPDATE');
        await author.precondition?.(tx);
        const change = { name, role, ...(key === undefined ? {} : hashed(key)) };
        const after = await store.updateToken(tx, id, change);
        if (key !== undefined || after.role !== before.role) await deleteSessionsOfToken(tx, id);
        const isKeyNew = key !== undefined;
        if (isKeyNew || !isDeepStrictEqual(noted(before), noted(after)))
          await recordAudit(tx, {
            actor: author,
            subject: subjectOf(before),
            action: codedAction('changed'),
            before: noted(before),
            after: { ...noted(after), ...(isKeyNew ? { key_changed: true } : {}) },
          });
        return after;
      })
      .finally(() => this.clearCached(id));
  }

  /** Revokes a token and ends the sessions opened with it; 404 if it does not exist. */
  async remove(author: Author, id: number): Promise<void> {
    await this.parts.database
      .transaction(async (tx) => {
        const before = await store.existingToken(tx, id, 'FOR UPDATE');
        await author.precondition?.(tx);
        await store.deleteToken(tx, id);
        const subject = subjectOf(before);
        const action = codedAction('deleted');
        await recordAudit(tx, { actor: author, subject, action, before: noted(before) });
      })
      .finally(() => this.clearCached(id));
  }

  /** Another node may have changed tokens. */
  mayHaveChanged(): void {
    this.memory.remove();
  }

  /** Clears the cache of tokens. */
  clearAll(): void {
    this.memory.clearAll();
  }

  /** Removes a token from the cache even if it is unknown whether it was changed. */
  private clearCached(id: number): void {
    this.memory.remove(id);
    this.writtenMs.delete(id);
    this.parts.sessions.remove(({ tokenId }) => tokenId === id);
  }

  private async noteUse({ id, lastUsedAt }: HashedToken): Promise<void> {
    const { clock, database } = this.parts;
    const nowMs = clock.nowMs();
    const noted = Math.max(this.writtenMs.get(id) ?? -Infinity, lastUsedAt?.getTime() ?? -Infinity);
    if (Math.abs(nowMs - noted) < USED_STEP_MS) return;
    this.writtenMs.set(id, nowMs);
    await store.touchToken(database, id, new Date(nowMs)).catch((error: unknown) => {
      // A failed write does not make the request fail.
      if (!(error instanceof DatabaseUnavailable)) throw error;
    });
  }
}

function hashed(key: string): HashedKey {
  return { keyHash: hashTokenKey(key), prefix: prefixOf(key) };
}

function subjectOf({ name }: StoredToken): CodedSubject {
  return codedSubject('api_token', { name });
}

/** Fields of a token in the audit log. */
function noted({ id, name, prefix, role }: StoredToken): object {
  return { id, name, prefix, role };
}
