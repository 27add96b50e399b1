/**
 * Second factors of the cluster: checks the code of a login, and makes all changes to factors. It handles neither
 * passwords nor the lockout (`login-check.ts`), nor HTTP.
 */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import type { CodedChange } from '../../../../shared/policy/changes/change-codes.ts';
import type { Clock } from '../../../../shared/clock.ts';
import { conflict, notFound, unauthorized } from '../../../api/api-error.ts';
import type { Author } from '../../../api/caller.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import * as store from './factor-store.ts';
import { hashReadableCode, newReadableCode } from './readable-code.ts';
import { isUnused, newTotpSecret, otpauthUri, stepOfCode, toBase32 } from './totp.ts';

/** Number of recovery codes of a user. */
const RECOVERY_CODES = 10;

/** A code that a user enters: from the authenticator app, or a recovery code. */
export type GivenCode = { readonly totp: string } | { readonly recovery: string };

/** A correct code, to be consumed in the transaction that it authorizes. */
export type RightCode = { readonly step: number; readonly secret: Buffer } | { readonly codeHash: Buffer };

/** Result of checking a code; null = no code is required. */
export type CodeVerdict = RightCode | 'missing' | 'wrong' | 'used' | null;

/** Owner of a second factor. */
export interface FactorOwner {
  readonly userId: number;
  readonly username: string;
}

/** The secret of a new factor; shown once. */
export interface ShownSecret {
  readonly secret: string;
  readonly uri: string;
}

/** State of a factor, for its owner. */
export interface FactorState {
  readonly isOn: boolean;
  /** Whether a secret was shown that is not confirmed yet. */
  readonly isPending: boolean;
  readonly recoveryCodesLeft: number;
}

/** Dependencies of second factors. */
export interface SecondFactorsParts {
  readonly database: Database;
  readonly clock: Clock;
}

/** All second factors. Throws ApiError and DatabaseUnavailable. */
export class SecondFactors {
  private readonly parts: SecondFactorsParts;

  constructor(parts: SecondFactorsParts) {
    this.parts = parts;
  }

  /** The state, for the owner. */
  async stateOf(userId: number): Promise<FactorState> {
    const { database } = this.parts;
    const factor = await store.findFactor(database, userId);
    const recoveryCodesLeft = factor === null ? 0 : await store.countRecoveryCodes(database, userId);
    const isOn = factor?.isConfirmed === true;
    return { isOn, isPending: factor !== null && !isOn, recoveryCodesLeft };
  }

  /** Checks a code for a login, without consuming it. */
  async check(userId: number, code: GivenCode | null): Promise<CodeVerdict> {
    const factor = await store.findFactor(this.parts.database, userId);
    if (factor === null || !factor.isConfirmed) return null;
    if (code === null) return 'missing';
    if ('totp' in code) return this.checkTotp(factor, code.totp);
    const codeHash = hashReadableCode(code.recovery);
    return (await store.hasRecoveryCode(this.parts.database, userId, codeHash)) ? { codeHash } : 'wrong';
  }

  /** Checks the first code of a secret; 409 without an unconfirmed secret. */
  async checkFirst(userId: number, totp: string): Promise<RightCode | 'wrong' | 'used'> {
    const factor = await store.findFactor(this.parts.database, userId);
    if (factor === null || factor.isConfirmed) throw nothingPending();
    return this.checkTotp(factor, totp);
  }

  /**
   * Consumes a correct code in the transaction that it authorizes, which has locked the user's row. 401 if the code was
   * used in the meantime, or the factor has changed.
   */
  async take(tx: Queryable, owner: FactorOwner, code: RightCode | null, address: string): Promise<void> {
    const { userId, username } = owner;
    const factor = await store.findFactor(tx, userId, 'FOR UPDATE');
    if (code === null) {
      if (factor?.isConfirmed === true) throw refusalOf('missing');
      return;
    }
    if ('step' in code) {
      if (factor === null || !factor.secret.equals(code.secret)) throw refusalOf('wrong');
      if (!isUnused(code.step, factor.lastStep, this.parts.clock.nowMs())) throw refusalOf('used');
      return store.noteStep(tx, userId, code.step);
    }
    if (!(await store.takeRecoveryCode(tx, userId, code.codeHash))) throw refusalOf('wrong');
    const actor = { name: username, address };
    const subject = codedSubject('recovery_code', { name: username });
    await recordAudit(tx, { actor, subject, action: codedAction('used') });
  }

  /** Stores a new secret, which must be confirmed with its first code; 409 if a factor is enabled. */
  async prepare(tx: Queryable, { userId, username }: FactorOwner, author: Author): Promise<ShownSecret> {
    const factor = await store.findFactor(tx, userId);
    if (factor?.isConfirmed === true)
      throw conflict('the second factor is already enabled: disable it first');
    const secret = newTotpSecret();
    await store.putSecret(tx, userId, secret);
    await recordAudit(tx, { actor: author, ...factorChange(username, 'prepared') });
    return { secret: toBase32(secret), uri: otpauthUri(secret, username) };
  }

  /** Enables a factor whose first code was correct, and creates its recovery codes. */
  async enable(tx: Queryable, owner: FactorOwner, code: RightCode, author: Author): Promise<string[]> {
    const { userId, username } = owner;
    const factor = await store.findFactor(tx, userId, 'FOR UPDATE');
    if (factor === null || factor.isConfirmed) throw nothingPending();
    await this.take(tx, owner, code, '');
    await store.confirmFactor(tx, userId, new Date(this.parts.clock.nowMs()));
    await recordAudit(tx, { actor: author, ...factorChange(username, 'enabled') });
    return newCodes(tx, userId);
  }

  /** Replaces the recovery codes; 409 without an enabled factor. */
  async renewCodes(tx: Queryable, { userId, username }: FactorOwner, author: Author): Promise<string[]> {
    await this.requireOn(tx, userId);
    const subject = codedSubject('recovery_codes', { name: username });
    await recordAudit(tx, { actor: author, subject, action: codedAction('replaced') });
    return newCodes(tx, userId);
  }

  /** Removes a factor that is enabled or not confirmed yet; 409 if there is none. */
  async disable(tx: Queryable, { userId, username }: FactorOwner, author: Author): Promise<void> {
    if (!(await store.deleteFactor(tx, userId))) throw nothingOn();
    await recordAudit(tx, { actor: author, ...factorChange(username, 'disabled') });
  }

  /** Removes the factor of a user who has lost it; 404 if there is none. */
  async remove(author: Author, { userId, username }: FactorOwner): Promise<void> {
    await this.parts.database.transaction(async (tx) => {
      await store.lockUser(tx, userId);
      if (!(await store.deleteFactor(tx, userId))) throw notFound(`second factor of ${username}`);
      await recordAudit(tx, { actor: author, ...factorChange(username, 'removed') });
    });
  }

  private checkTotp({ secret, lastStep }: store.StoredFactor, totp: string): RightCode | 'wrong' | 'used' {
    const nowMs = this.parts.clock.nowMs();
    const step = stepOfCode(secret, totp.replaceAll(' ', ''), nowMs);
    if (step === null) return 'wrong';
    return isUnused(step, lastStep, nowMs) ? { step, secret } : 'used';
  }

  private async requireOn(tx: Queryable, userId: number): Promise<void> {
    if ((await store.findFactor(tx, userId))?.isConfirmed !== true) throw nothingOn();
  }
}

/** The 401 for a code that was not accepted. */
export function refusalOf(verdict: 'missing' | 'wrong' | 'used'): Error {
  switch (verdict) {
    case 'missing':
      return unauthorized(
        'a second factor is required: totp_code or recovery_code',
        'second_factor_required',
      );
    case 'wrong':
      return unauthorized('wrong code of the second factor', 'second_factor_wrong');
    case 'used':
      return unauthorized('this code has already been used: wait for the next one', 'second_factor_used');
  }
}

async function newCodes(tx: Queryable, userId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newReadableCode);
  await store.replaceRecoveryCodes(tx, userId, codes.map(hashReadableCode));
  return codes;
}

function factorChange(username: string, verb: 'prepared' | 'enabled' | 'disabled' | 'removed'): CodedChange {
  return { subject: codedSubject('second_factor', { name: username }), action: codedAction(verb) };
}

function nothingPending(): Error {
  return conflict('no second factor is waiting for its first code: create one first');
}

function nothingOn(): Error {
  return conflict('the second factor is disabled');
}
