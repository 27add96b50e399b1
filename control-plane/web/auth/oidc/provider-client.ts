/**
 * Client of the OpenID provider: the authorization code flow with PKCE, over openid-client. Weir contacts the provider
 * only for logins, and nothing else waits for it.
 */
import { readFile } from 'node:fs/promises';
import type * as openid from 'openid-client';
import type { Config } from '../../../../config/schema.ts';
import type { OidcAttempt } from '../../../../shared/api/auth-api.ts';
import type { Logger } from '../../../../shared/log.ts';
import { reasonOf } from '../../../../shared/errors.ts';
import { dependencyUnavailable, forbidden, unauthorized } from '../../../api/api-error.ts';
import type { ApiError } from '../../../api/api-error.ts';
import type { Claims } from './granted-access.ts';

type Library = typeof openid;
type Configuration = openid.Configuration;

/** Time limit of each request to the provider. */
const TIMEOUT_SECS = 5;
/** How long the provider's discovery document is cached. */
const CACHE_MS = 3_600_000;

/** Secrets of one login. */
export type AttemptSecrets = Pick<OidcAttempt, 'state' | 'nonce' | 'verifier'>;

/** Dependencies of the client. */
export interface ProviderClientParts {
  readonly settings: () => Config['auth']['oidc'];
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

interface Discovered {
  readonly key: string;
  readonly atMs: number;
  readonly configuration: Configuration;
}

/** Communicates with the configured provider. Throws ApiError, with texts for the person who logs in. */
export class ProviderClient {
  private readonly parts: ProviderClientParts;
  private discovered: Discovered | null = null;
  private discovering: { readonly key: string; readonly result: Promise<Configuration> } | null = null;

  constructor(parts: ProviderClientParts) {
    this.parts = parts;
  }

  /** The URL where a login starts, and the secrets for checking its response. */
  async begin(redirectUri: string): Promise<{ readonly url: URL; readonly secrets: AttemptSecrets }> {
    const { library, configuration } = await this.connected();
    const verifier = library.randomPKCECodeVerifier();
    const secrets = { verifier, state: library.randomState(), nonce: library.randomNonce() };
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.parts.settings().scope,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url, secrets };
  }

  /** The claims about the person in the provider's response (`answer`). 401 if any part cannot be trusted. */
  async finish(answer: URL, { state, nonce, verifier }: AttemptSecrets): Promise<Claims> {
    const { library, configuration } = await this.connected();
    try {
      const tokens = await library.authorizationCodeGrant(configuration, answer, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
      const more = await library.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      // Signed claims override unsigned ones.
      return { ...more, ...claims };
    } catch (error) {
      throw this.refusal(library, error);
    }
  }

  private async connected(): Promise<{ library: Library; configuration: Configuration }> {
    try {
      // Load the library only when it is needed.
      const library = await import('openid-client');
      return { library, configuration: await this.discover(library) };
    } catch (error) {
      this.parts.logger.warn('could not use the OpenID provider', { reason: reasonsOf(error) });
      const headers = { 'Retry-After': '10' };
      throw dependencyUnavailable('openid_provider', 'the OpenID provider cannot be reached', {
        headers,
        cause: error,
      });
    }
  }

  /** Discovery document of the provider, fetched by one login at a time. */
  private async discover(library: Library): Promise<Configuration> {
    const { settings, monotonicMs } = this.parts;
    const { issuer, client_id: clientId, client_secret: given, client_secret_file: file } = settings();
    const secret = file === '' ? given : (await readFile(file, 'utf8')).trim();
    const key = JSON.stringify([issuer, clientId, secret]);
    const known = this.discovered;
    if (known?.key === key && monotonicMs() - known.atMs < CACHE_MS) return known.configuration;
    if (this.discovering?.key !== key) {
      const result = this.ask(library, { issuer, clientId, secret }).then((configuration) => {
        this.discovered = { key, atMs: monotonicMs(), configuration };
        return configuration;
      });
      this.discovering = { key, result };
      const done = (): void => {
        if (this.discovering?.result === result) this.discovering = null;
      };
      result.then(done, done);
    }
    return this.discovering.result;
  }

  private async ask(
    library: Library,
    { issuer, clientId, secret }: { issuer: string; clientId: string; secret: string },
  ): Promise<Configuration> {
    const url = new URL(issuer);
    const authentication = secret === '' ? library.None() : library.ClientSecretBasic(secret);
    const configuration = await library.discovery(url, clientId, undefined, authentication, {
      timeout: TIMEOUT_SECS,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- the configuration lets it be so on the loopback only
      execute: url.protocol === 'http:' ? [library.allowInsecureRequests] : [],
    });
    // The signature of a token is checked although it comes from the provider itself.
    library.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  private refusal(library: Library, error: unknown): ApiError {
    this.parts.logger.warn('refused a login with OpenID Connect', { reason: reasonsOf(error) });
    if (error instanceof library.AuthorizationResponseError) return forbidden('openid_refused');
    if (isOutOfReach(error))
      return dependencyUnavailable('openid_provider', 'the OpenID provider cannot be reached', {
        headers: { 'Retry-After': '10' },
        cause: error,
      });
    return unauthorized('the response of the OpenID provider is not valid; log in again');
  }
}

/** Whether a connection failed or a response took too long. */
function isOutOfReach(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at.name === 'TimeoutError' || (at instanceof TypeError && at.message === 'fetch failed')) return true;
  return false;
}

/** An error and its causes, without the bodies that such errors contain. */
function reasonsOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) texts.push(reasonOf(at));
  return texts.length === 0 ? String(error) : texts.join(': ');
}
