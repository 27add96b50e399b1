/** Changes of a user's own second factor: each requires the password or a code. */
import { ApiError, forbidden, unauthorized } from '../../api/api-error.ts';
import type { Author, Caller } from '../../api/caller.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import type { Accounts } from './accounts/accounts.ts';
import type { LoginCheck } from './login-check.ts';
import { lockUser } from './second-factor/factor-store.ts';
import type {
  FactorOwner,
  FactorState,
  GivenCode,
  RightCode,
  SecondFactors,
  ShownSecret,
} from './second-factor/second-factors.ts';
import { deleteSessionsOfUser } from './sessions/session-store.ts';
import type { Sessions } from './sessions/sessions.ts';

/** Proof that the owner uses the session. */
export type OwnerProof = { readonly password: string } | GivenCode;

/** The owner of a second factor, as the sender of a request. */
export interface Owner {
  readonly caller: Caller;
  readonly author: Author;
  /** Client address, for which the lockout counts failures. */
  readonly address: string;
}

/** Dependencies of these changes. */
export interface OwnSecondFactorParts {
  readonly database: Database;
  readonly accounts: Accounts;
  readonly login: LoginCheck;
  readonly secondFactors: SecondFactors;
  readonly sessions: Pick<Sessions, 'remove'>;
  /** Throws 401 before setup. */
  readonly requireSetup: () => Promise<void>;
}

/** The second factor of a caller. Throws ApiError and DatabaseUnavailable. */
export class OwnSecondFactor {
  private readonly parts: OwnSecondFactorParts;

  constructor(parts: OwnSecondFactorParts) {
    this.parts = parts;
  }

  /** The state of the factor; 403 for callers that are not users. */
  state(caller: Caller): Promise<FactorState> {
    return this.parts.secondFactors.stateOf(ownerOf(caller).userId);
  }

  /** Creates a secret, which must be confirmed with its first code; 409 if a factor is enabled. */
  async prepare({ caller, author, address }: Owner, password: string): Promise<ShownSecret> {
    const owner = ownerOf(caller);
    const confirm = await this.prove(owner, { password }, address);
    return this.change(owner, confirm, (tx) => this.parts.secondFactors.prepare(tx, owner, author));
  }

  /** Enables the factor with its first code, and ends the owner's other sessions; returns the recovery codes. */
  async enable({ caller, author, address }: Owner, totp: string): Promise<string[]> {
    const { secondFactors, sessions, login } = this.parts;
    const owner = ownerOf(caller);
    const { userId } = owner;
    const right = await login.checkCode(owner, address, () => secondFactors.checkFirst(userId, totp));
    const isOther = (session: { userId: number | null; id: number }): boolean =>
      session.userId === userId && session.id !== caller.sessionId;
    return this.change(owner, undefined, async (tx) => {
      const codes = await secondFactors.enable(tx, owner, right!, author);
      // The other sessions were opened with only a password.
      await deleteSessionsOfUser(tx, userId, caller.sessionId);
      return codes;
    }).finally(() => sessions.remove(isOther));
  }

  /** Replaces the recovery codes; 409 if the factor is disabled. */
  async renewCodes({ caller, author, address }: Owner, proof: OwnerProof): Promise<string[]> {
    const owner = ownerOf(caller);
    const confirm = await this.prove(owner, proof, address);
    return this.change(owner, confirm, (tx) => this.parts.secondFactors.renewCodes(tx, owner, author));
  }

  /** Disables the factor, or discards an unconfirmed secret; 409 if there is none. */
  async disable({ caller, author, address }: Owner, proof: OwnerProof): Promise<void> {
    const owner = ownerOf(caller);
    const confirm = await this.prove(owner, proof, address);
    await this.change(owner, confirm, (tx) => this.parts.secondFactors.disable(tx, owner, author));
  }

  /** Checks a proof; returns a function that ensures, in a transaction, that it is still valid. */
  private async prove(
    owner: FactorOwner,
    proof: OwnerProof,
    address: string,
  ): Promise<(tx: Queryable) => Promise<void>> {
    const { login, accounts, secondFactors, requireSetup } = this.parts;
    await requireSetup();
    if ('password' in proof) {
      const account = await login.checkPassword(owner.username, proof.password, address);
      if (account.userId !== owner.userId) throw unauthorized('wrong user name or password');
      return (tx) => accounts.confirm(tx, account);
    }
    const right = await login.checkCode(owner, address, () => secondFactors.check(owner.userId, proof));
    return (tx) => secondFactors.take(tx, owner, orOff(right), address);
  }

  private change<T>(
    { userId }: FactorOwner,
    confirm: ((tx: Queryable) => Promise<void>) | undefined,
    work: (tx: Queryable) => Promise<T>,
  ): Promise<T> {
    return this.parts.database.transaction(async (tx) => {
      // Logins lock the row until their session is stored, so no login can happen in between.
      if (!(await lockUser(tx, userId))) throw unauthorized('the user has been deleted');
      await confirm?.(tx);
      return work(tx);
    });
  }
}

/** The user of a caller; 403 for a token and the command line. */
export function ownerOf({ userId, username }: Caller): FactorOwner {
  if (userId === null) throw forbidden('token_without_factor');
  return { userId, username };
}

/** A code proves nothing while the factor is disabled. */
function orOff(right: RightCode | null): RightCode {
  if (right === null) throw new ApiError(409, 'conflict', 'the second factor is disabled');
  return right;
}
