/**
 * A real OpenID provider (oidc-provider) on loopback that signs users in without a form, and a browser that follows a
 * login through it.
 */
import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';

/** Changes the claims of tokens before they are signed. */
export type Falsify = (claims: Record<string, unknown>) => Record<string, unknown>;

/** Claims of the signed-in person. */
export type Person = Readonly<Record<string, unknown>> & { readonly sub: string };

/** A provider that listens until it is closed. */
export class OpenIdProvider {
  readonly issuer: string;
  /** The signed-in person; null = the provider refuses the login. */
  person: Person | null = { sub: 'person-1' };
  falsify: Falsify | null = null;
  private readonly server: Server;
  private readonly spies: { mockRestore(): void }[] = [];

  private constructor(server: Server) {
    this.server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Registers one client, whose redirect goes to a loopback port. */
  static async start(): Promise<OpenIdProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const own = new OpenIdProvider(server);
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'RS256', use: 'sig' };
    // Silences warnings of the provider about settings that are intended here: a store in memory, default lifetimes.
    const spies = (['warn', 'info'] as const).map((name) => jest.spyOn(console, name).mockReturnValue());
    own.spies.push(...spies);
    const provider = new Provider(own.issuer, {
      clients: [
        {
          client_id: 'weir',
          client_secret: 'a secret of weir',
          redirect_uris: ['http://127.0.0.1:1/login/oidc/callback'],
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: ['a key of cookies'] },
      claims: {
        openid: ['sub'],
        profile: ['name', 'preferred_username', 'groups'],
        email: ['email', 'email_verified'],
      },
      conformIdTokenClaims: true,
      features: { devInteractions: { enabled: false } },
      interactions: { url: () => '/sign-in' },
      findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...own.person, sub: id }) }),
      loadExistingGrant: async (context) => {
        const grant = new context.oidc.provider.Grant({
          clientId: context.oidc.client!.clientId,
          accountId: context.oidc.session!.accountId!,
        });
        grant.addOIDCScope('openid profile email');
        await grant.save();
        return grant;
      },
    });
    // Accepts redirects to any port, because Weir has a different port in each test.
    provider.Client.prototype.redirectUriAllowed = (uri) =>
      /^http:\/\/127\.0\.0\.1:\d+\/login\/oidc\/callback$/.test(uri);
    provider.use(async (context, next) => {
      if (context.path === '/sign-in') {
        const result =
          own.person === null ? { error: 'access_denied' } : { login: { accountId: own.person.sub } };
        await provider.interactionFinished(context.req, context.res, result);
        context.respond = false;
        return;
      }
      await next();
      const { body } = context as { body: { id_token?: string } };
      if (context.path !== '/token' || own.falsify === null || body.id_token === undefined) return;
      const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1]!, 'base64url').toString()) as object;
      const token = new SignJWT(own.falsify({ ...claims })).setProtectedHeader({ alg: 'RS256', kid: 'test' });
      context.body = { ...body, id_token: await token.sign(privateKey) };
    });
    server.on('request', provider.callback() as never);
    return own;
  }

  async close(): Promise<void> {
    for (const spy of this.spies) spy.mockRestore();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** A browser that keeps the cookies of each server. */
export class TestBrowser {
  private readonly jar = new Map<string, Map<string, string>>();

  /** Requests a page without following redirects. */
  async get(url: string): Promise<Response> {
    const { origin } = new URL(url);
    const own = this.jar.get(origin) ?? new Map<string, string>();
    this.jar.set(origin, own);
    const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '') own.delete(name);
      else own.set(name, value);
    }
    return response;
  }

  /** Follows redirects until a page or an address that `stop` matches. */
  async follow(
    url: string,
    stop: (url: string) => boolean = () => false,
  ): Promise<{ url: string; response: Response }> {
    let at = url;
    for (let hops = 0; hops < 10; hops++) {
      if (stop(at)) break;
      const response = await this.get(at);
      const next = response.headers.get('location');
      if (next === null) return { url: at, response };
      await response.body?.cancel();
      at = new URL(next, at).href;
    }
    return { url: at, response: new Response() };
  }

  cookie(url: string, name: string): string | undefined {
    return this.jar.get(new URL(url).origin)?.get(name);
  }
}
