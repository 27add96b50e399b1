/**
 * Logins through an OpenID provider: its claims become a session of a user. A person whose role comes from the provider
 * is a user without a password in Weir, whom an admin may disable like any other. HTTP is in
 * `web/server/oidc-pages.ts`.
 */
import { createHash } from 'node:crypto';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { Config } from '../../../config/schema.ts';
import type { OidcAttempt, Role } from '../../../shared/api/auth-api.ts';
import { UserCreateBody } from '../../../shared/api/users-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { conflict, forbidden, notFound } from '../../api/api-error.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { foldedName, looksLike } from './accounts/user-name.ts';
import * as users from './accounts/user-store.ts';
import { ADMIN_USER_ID } from './accounts/user-store.ts';
import { MAX_USERS } from './accounts/users.ts';
import { LoginTurns } from './login-turns.ts';
import { type Claims, grantedAccess } from './oidc/granted-access.ts';
import * as provided from './oidc/provided-user-store.ts';
import type { ProviderPerson } from './oidc/provided-user-store.ts';
import { type AttemptSecrets, ProviderClient } from './oidc/provider-client.ts';
import { deleteSessionsOfUser } from './sessions/session-store.ts';
import type { LoginOrigin, OpenedSession, Sessions } from './sessions/sessions.ts';

/** Dependencies of these logins. */
export interface OidcLoginParts {
  config(): Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sessions: Sessions;
  /** Name of the administrator. */
  readonly adminName: () => string;
  /** Lifetime of a session in milliseconds. */
  readonly lifeMs: (rememberMe: boolean) => number;
  /** Throws 401 before setup. */
  readonly requireSetup: () => Promise<void>;
}

/** Logins through the configured provider. Throws ApiError and DatabaseUnavailable. */
export class OidcLogin {
  private readonly parts: OidcLoginParts;
  private readonly provider: ProviderClient;
  private readonly turns = new LoginTurns();

  constructor(parts: OidcLoginParts) {
    this.parts = parts;
    this.provider = new ProviderClient({
      ...parts,
      settings: () => this.settings,
      monotonicMs: () => parts.clock.monotonicMs(),
    });
  }

  /** Whether OIDC is enabled. */
  get isOn(): boolean {
    return this.parts.config().auth.enabled && this.settings.enabled;
  }

  /** Starts a login; 404 while OIDC is disabled. */
  async begin(redirectUri: string): Promise<{ readonly url: URL; readonly secrets: AttemptSecrets }> {
    await this.requireOn();
    return this.provider.begin(redirectUri);
  }

  /** Opens a session for the person authenticated by the provider; 403 if that person has no access to Weir. */
  async finish(answer: URL, attempt: OidcAttempt, origin: LoginOrigin): Promise<OpenedSession> {
    await this.requireOn();
    const claims = await this.turns.run(origin.address, () => this.provider.finish(answer, attempt));
    const userId = await this.userOf(claims, origin);
    const { rememberMe } = attempt;
    const confirm = async (tx: Queryable): Promise<void> => {
      if ((await users.holdPasswordHash(tx, userId)) === null) throw refused();
    };
    const life = { rememberMe, lifeMs: this.parts.lifeMs(rememberMe), idleSecs: null };
    return this.parts.sessions.open({ ...life, owner: { userId, tokenId: null }, confirm }, origin);
  }

  private async requireOn(): Promise<void> {
    if (!this.isOn) throw notFound('the login with OpenID Connect');
    await this.parts.requireSetup();
  }

  /** The id of the user for these claims. */
  private async userOf(claims: Claims, origin: LoginOrigin): Promise<number> {
    const access = grantedAccess(claims, this.settings);
    const person = { issuer: this.settings.issuer, subject: claims.sub };
    if (access === null) {
      await this.endSessionsOf(person);
      this.parts.logger.warn('refused a login with OpenID Connect: no access', { subject: claims.sub });
      throw refused();
    }
    return 'username' in access ? this.userNamed(access.username) : this.providedUser(person, access, origin);
  }

  private async userNamed(username: string): Promise<number> {
    if (foldedName(username) === foldedName(this.parts.adminName())) return ADMIN_USER_ID;
    const id = await users.findEnabledUser(this.parts.database, foldedName(username));
    if (id === null) throw refused();
    return id;
  }

  /** Creates the user at the first login, and updates the role at each login. */
  private async providedUser(
    person: ProviderPerson,
    { role, wantedName }: { readonly role: Role; readonly wantedName: string },
    { address }: LoginOrigin,
  ): Promise<number> {
    let lowered: number | null = null;
    const id = await this.parts.database
      .transaction(async (tx) => {
        await provided.holdPerson(tx, person);
        const known = await provided.lockProvidedUser(tx, person);
        if (known === null) return this.makeUser(tx, person, { role, wantedName }, address);
        if (!known.enabled) throw refused();
        if (known.role === role) return known.id;
        await provided.setRole(tx, known.id, role);
        if (role !== 'admin') {
          lowered = known.id;
          await deleteSessionsOfUser(tx, known.id);
        }
        await recordAudit(tx, {
          actor: { name: known.username, address },
          subject: codedSubject('user', { name: known.username }),
          action: codedAction('changed'),
          before: { id: known.id, role: known.role },
          after: { id: known.id, role, by: 'OpenID provider' },
        });
        return known.id;
      })
      .finally(() => this.clearCaches(lowered));
    return id;
  }

  private async makeUser(
    tx: Queryable,
    person: ProviderPerson,
    { role, wantedName }: { readonly role: Role; readonly wantedName: string },
    address: string,
  ): Promise<number> {
    if ((await users.countUsers(tx)) >= MAX_USERS)
      throw conflict(`there are already ${MAX_USERS} users; delete one first`);
    const username = await this.freeName(tx, person, wantedName);
    const id = await provided.insertProvidedUser(tx, person, { username, role });
    const after = { id, username, role, by: 'OpenID provider' };
    const actor = { name: username, address };
    const subject = codedSubject('user', { name: username });
    await recordAudit(tx, { actor, subject, action: codedAction('created'), after });
    return id;
  }

  /**
   * The person's name at the provider, with a suffix if another user of Weir has it, so that users cannot be
   * impersonated.
   */
  private async freeName(
    tx: Queryable,
    { issuer, subject }: ProviderPerson,
    wanted: string,
  ): Promise<string> {
    const isOurs = looksLike(wanted, this.parts.adminName());
    const isName = UserCreateBody.shape.username.safeParse(wanted).success;
    if (!isOurs && isName && (await provided.isNameFree(tx, wanted))) return wanted;
    const mark = createHash('sha256').update(`${issuer}\n${subject}`).digest('hex').slice(0, 12);
    return `${wanted}-${mark}`;
  }

  /** A person who has lost all access at the provider also loses it in Weir. */
  private async endSessionsOf(person: ProviderPerson): Promise<void> {
    let ended: number | null = null;
    await this.parts.database
      .transaction(async (tx) => {
        const known = await provided.lockProvidedUser(tx, person);
        if (known === null) return;
        ended = known.id;
        await deleteSessionsOfUser(tx, known.id);
      })
      .finally(() => this.clearCaches(ended));
  }

  private clearCaches(id: number | null): void {
    if (id !== null) this.parts.sessions.remove(({ userId }) => userId === id);
  }

  private get settings(): Config['auth']['oidc'] {
    return this.parts.config().auth.oidc;
  }
}

function refused(): Error {
  return forbidden('openid_without_access');
}
