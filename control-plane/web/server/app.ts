/**
 * The web application: every middleware and every part of the URL space, in the order in which they handle a request.
 * Routes of the API come from their features, see `route-table.ts`; listening is in `server.ts`.
 */
import cookieParser from 'cookie-parser';
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { ApiError, notFound } from '../../api/api-error.ts';
import { holderOf } from '../../api/places.ts';
import { runFor } from '../../api/request-holder.ts';
import type { RequestLimit } from '../../api/request-limit.ts';
import type { Logger } from '../../../shared/log.ts';
import type { DashboardSource } from '../built-dashboard/dashboard-state.ts';
import type { CompatRoute } from '../compat/compat-route.ts';
import { apiPrefix, COMPAT_PREFIX } from '../../api/api-prefix.ts';
import { guard } from './auth-guard.ts';
import { compatApp } from './compat-app.ts';
import { addDohRelay } from '../relay/doh-relay.ts';
import type { NoteForwarding, RelayQuery } from '../relay/doh-relay.ts';
import { serveDashboard } from '../dashboard-files/serve-dashboard.ts';
import type { DashboardHandlers, DashboardParts } from '../dashboard-files/serve-dashboard.ts';
import { docsPage } from './docs-page.ts';
import { sendCheckPage } from './check-page.ts';
import { COMPAT_NAME } from '../../policy/settings/derived.ts';
import { checkHost } from '../edge/host-check.ts';
import { checkMessage } from '../edge/message-check.ts';
import { answerOtherMethods } from '../edge/other-methods.ts';
import { limitRequests } from '../edge/request-limits.ts';
import { redirectToHttps } from '../edge/https-redirect.ts';
import { leaveUnreadBodies } from '../edge/unread-bodies.ts';
import { landingPage, type LandingParts } from './landing-page.ts';
import { addOidcPages, type OidcPageParts } from './oidc-pages.ts';
import { waitAsPreferred } from './preferred-wait.ts';
import type { WaitForNodes } from './preferred-wait.ts';
import { openApiDocument, openApiRow } from '../reference/openapi.ts';
import type { OpenApiDocument } from '../reference/openapi-document.ts';
import { sendPage } from './page.ts';
import { problemHandler } from '../../api/problem.ts';
import type { Route } from '../../api/route.ts';
import { securityHeaders } from '../edge/security-headers.ts';

/** Dependencies of the application, except its routes. */
export interface AppParts extends LandingParts, OidcPageParts {
  readonly logger: Logger;
  /** Limits the requests of a client network to everything that this server serves. */
  readonly requestLimit: RequestLimit;
  /** Answers DNS over HTTPS, if that is enabled. */
  readonly relayQuery?: RelayQuery | undefined;
  /** Called for DNS requests that are not from a trusted proxy. */
  readonly noteForwarding?: NoteForwarding;
  /** Response to an HTTP-01 challenge of ACME for the target of a request; null = another target. */
  readonly challengeAnswer?: ((target: string) => string | null) | undefined;
  readonly dashboard: DashboardSource;
  readonly waitForNodes: WaitForNodes;
  /** Metrics that Prometheus scrapes at `/metrics`. */
  readonly metrics: () => Promise<{ readonly contentType: string; text(): Promise<string> }>;
}

/** Routes outside the native API. */
interface OtherRows {
  /** Routes of the compatibility API, if it is enabled. */
  readonly compat?: readonly CompatRoute[] | undefined;
  /** Routes below the page `/check`. */
  readonly check?: readonly Route[];
}

/** The application with these routes; it does not listen yet. */
export function createApp(
  parts: AppParts,
  table: readonly Route[],
  { compat: compatRows = [], check = [] }: OtherRows = {},
): express.Express {
  const {
    alt_compat: altCompat,
    trusted_proxies: trustedProxies,
    web_tls: webTls,
  } = parts.configuration.current().server;
  const prefix = apiPrefix(altCompat);
  const document = lazily(() => openApiDocument(routes, prefix, parts.version));
  const routes: readonly Route[] = [...table, openApiRow(document)];
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Routes read their query strings themselves (`query-string.ts`).
  app.set('query parser', false);
  app.set('trust proxy', trustedProxies.length === 0 ? false : [...trustedProxies]);

  app.use(leaveUnreadBodies(parts.clock));
  app.use(securityHeaders({ isHttps: webTls.enabled }));
  app.use(logRequests(parts));
  app.use(limitRequests(parts.requestLimit));
  app.use(checkMessage);
  app.use(refuseUpgrades);
  // Challenges are answered before the Host check, because the names of the certificate need not be names of the
  // dashboard.
  app.use(answerChallenges(parts.challengeAnswer));
  app.use(
    checkHost({
      nodeName: parts.nodeName,
      allowedHosts: () => {
        const { allowed_hosts: allowed } = parts.configuration.current().server;
        return altCompat ? [...allowed, COMPAT_NAME] : allowed;
      },
    }),
  );
  if (webTls.enabled) app.use(redirectToHttps);
  if (parts.relayQuery !== undefined) addDohRelay(app, parts.relayQuery, parts.noteForwarding);
  app.use(cookieParser());
  app.use(prefix, apiRouter(parts, routes));
  const compat = compatApp(parts, compatRows);
  if (altCompat) {
    app.use(COMPAT_PREFIX, compat.serve);
    app.all(/^\/admin\/api/, compat.refuse);
  }
  addMetrics(app, parts);
  addOidcPages(app, parts);
  const { serveUnknown } = addPages(app, parts, document);
  app.use('/check', apiRouter(parts, check));
  app.use(exceptUnder([prefix, '/admin/api'], serveUnknown));
  app.use((request: Request) => {
    throw notFound(`${request.method} ${request.path}`);
  });
  if (altCompat) app.use(COMPAT_PREFIX, compat.fail);
  app.use(problemHandler(parts.logger));
  return app;
}

/** The routes of the table; other methods on their paths are answered by `answerOtherMethods`. */
function apiRouter(parts: AppParts, routes: readonly Route[]): express.Router {
  const router = express.Router({ caseSensitive: true });
  for (const [path, samePath] of Map.groupBy(routes, (row) => row.path)) {
    const place = router.route(expressPath(path));
    for (const row of samePath) place[METHODS[row.method]](runRoute(parts, row));
    place.all(answerOtherMethods(samePath.map(({ method }) => method)));
  }
  return router;
}

/** Defers creation to the first use: it takes 0.2 seconds, and most runs never need it. */
function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function runRoute({ auth, waitForNodes }: AppParts, route: Route) {
  return async (request: Request, response: Response): Promise<void> => {
    const caller = await guard(auth, route.access, request);
    response.status(route.status);
    const answer = await runFor(holderOf(caller), () => route.run(request, response, caller));
    if (route.waits) await waitAsPreferred(request, response, waitForNodes);
    if (answer === undefined) response.end();
    else sendJson(response, answer);
  };
}

/** Never answers 304: Express would compare ETags, but the ETags of entities cover only the writable fields. */
function sendJson(response: Response, answer: unknown): void {
  const body = Buffer.from(JSON.stringify(answer));
  response.set({ 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': String(body.length) });
  response.end(body);
}

/** Metrics are not part of the API, but have the same access control unless `server.metrics_public` is set. */
function addMetrics(app: express.Express, { auth, configuration, metrics }: AppParts): void {
  const place = app.route('/metrics');
  place.get(async (request: Request, response: Response): Promise<void> => {
    await guard(auth, configuration.current().server.metrics_public ? 'public' : 'viewer', request);
    const shown = await metrics();
    response.set('Content-Type', shown.contentType).send(await shown.text());
  });
  place.all(answerOtherMethods(['GET']));
}

/** Routes outside the API: HTML pages, and the dashboard. */
function addPages(app: express.Express, parts: AppParts, document: () => OpenApiDocument): DashboardHandlers {
  const docs = lazily(() => docsPage(document()));
  const sendDocs = (_request: Request, response: Response): void => sendPage(response, docs());
  app
    .route('/docs')
    .get(sendDocs)
    .all(answerOtherMethods(['GET']));
  const sendCheck = (request: Request, response: Response): void => sendCheckPage(parts, request, response);
  app
    .route('/check')
    .get(sendCheck)
    .all(answerOtherMethods(['GET']));
  const { alt_compat: compat } = parts.configuration.current().server;
  const settings = { apiBase: apiPrefix(compat), compat, version: parts.version };
  const sendInstead: DashboardParts['sendInstead'] = (request, response, why) =>
    sendPage(
      response,
      landingPage(parts, `${request.protocol}://${request.headers.host ?? parts.nodeName}`, why),
    );
  const handlers = serveDashboard({
    dashboard: parts.dashboard,
    settings,
    hasLogin: () => parts.auth.openCaller() === null,
    sendInstead,
  });
  app.use(handlers.serve);
  return handlers;
}

/** The handler for all paths except those below these prefixes. */
function exceptUnder(prefixes: readonly string[], handler: DashboardHandlers['serve']) {
  return (request: Request, response: Response, next: NextFunction): Promise<void> | void =>
    prefixes.some((prefix) => request.path === prefix || request.path.startsWith(`${prefix}/`))
      ? next()
      : handler(request, response, next);
}

/** Answers the requests of an ACME server during an order. */
function answerChallenges(answerFor: AppParts['challengeAnswer'] = () => null) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const answer = request.method === 'GET' ? answerFor(request.url) : null;
    if (answer === null) next();
    else response.type('application/octet-stream').send(answer);
  };
}

/** RFC 9110 section 7.8 lets a server ignore Upgrade; Weir refuses it, because it serves no other protocol. */
function refuseUpgrades(request: Request, _response: Response, next: NextFunction): void {
  const upgrade = request.headers.upgrade;
  // `curl --http2` offers h2c on its first request but also accepts HTTP/1.1.
  if (upgrade !== undefined && upgrade.toLowerCase() !== 'h2c')
    throw new ApiError(400, 'upgrade_refused', 'this server speaks HTTP only');
  next();
}

function logRequests({ logger, clock }: Pick<AppParts, 'logger' | 'clock'>) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedMs = clock.monotonicMs();
    const { method, path } = request;
    response.once('finish', () => {
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      logger.debug('http request', { method, path, status: response.statusCode, durationMs });
    });
    next();
  };
}
