/**
 * The web application: every middleware and every place of the URL space, in the order in which a request
 * meets them. Routes of the API are `route-table.ts`; listening is `server.ts`.
 */
import cookieParser from 'cookie-parser';
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { OpenApiAnswer } from '../../shared/api/schema-door.ts';
import { ApiError, notFound } from '../api/api-error.ts';
import type { ApiContext } from '../api/api-context.ts';
import { apiPrefix } from './api-prefix.ts';
import { guard } from './auth-guard.ts';
import { docsPage } from './docs-page.ts';
import { checkHost } from './host-check.ts';
import { landingPage } from './landing-page.ts';
import { openApiDocument } from './openapi.ts';
import type { OpenApiDocument } from './openapi.ts';
import { sendPage } from './page.ts';
import { problemHandler } from '../api/problem.ts';
import { routeTable } from './route-table.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { securityHeaders } from './security-headers.ts';

/** The application over the parts of a running node; listens nowhere yet. */
export function createApp(context: ApiContext): express.Express {
  const { alt_compat: altCompat, trusted_proxies: trustedProxies } = context.config().server;
  const prefix = apiPrefix(altCompat);
  const routes = withOpenApi(routeTable, () => document);
  const document = openApiDocument(routes, prefix, context.version);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Routes read their query strings themselves (`query-string.ts`).
  app.set('query parser', false);
  app.set('trust proxy', trustedProxies.length === 0 ? false : [...trustedProxies]);

  app.use(securityHeaders);
  app.use(logRequests(context));
  app.use(refuseUpgrades);
  app.use(
    checkHost({ nodeName: context.nodeName, allowedHosts: () => context.config().server.allowed_hosts }),
  );
  app.use(cookieParser());
  app.use(prefix, apiRouter(context, routes));
  addPages(app, context, document);
  app.use((request: Request) => {
    throw notFound(`${request.method} ${request.path}`);
  });
  app.use(problemHandler(context.logger));
  return app;
}

/** The routes of the table, and 405 for other methods on their paths. */
function apiRouter(context: ApiContext, routes: readonly Route[]): express.Router {
  const router = express.Router({ caseSensitive: true });
  for (const [path, samePath] of Map.groupBy(routes, (row) => row.path)) {
    const place = router.route(expressPath(path));
    for (const row of samePath) place[METHODS[row.method]](runRoute(context, row));
    place.all(methodNotAllowed(samePath));
  }
  return router;
}

/** The row that describes all rows, itself included. */
function withOpenApi(routes: readonly Route[], describe: () => OpenApiDocument): Route[] {
  const self = route({
    method: 'GET',
    path: '/openapi.json',
    access: 'viewer',
    tag: 'System',
    summary: 'This description of the API, OpenAPI 3.1',
    answer: OpenApiAnswer,
    handle: () => ({ ...describe() }),
  });
  return [...routes, self];
}

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function runRoute(context: ApiContext, route: Route) {
  return async (request: Request, response: Response): Promise<void> => {
    const caller = await guard(context.auth, route.access, request);
    response.status(route.status);
    const answer = await route.run(context, request, response, caller);
    if (answer === undefined) response.end();
    else response.json(answer);
  };
}

function methodNotAllowed(routes: readonly Route[]) {
  const methods = routes.map((route) => route.method as string);
  const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  return (request: Request): never => {
    const headers = { Allow: allowed.join(', ') };
    throw new ApiError(405, 'method_not_allowed', `${request.method} is not possible here`, { headers });
  };
}

/** What lies outside the API: pages for people, and the script that tells the dashboard where the API is. */
function addPages(app: express.Express, context: ApiContext, document: OpenApiDocument): void {
  const docs = docsPage(document);
  app.get('/docs', (_request, response) => sendPage(response, docs));
  app.get('/', (request, response) => sendPage(response, landingPage(context, request.host)));
  const { alt_compat: compat } = context.config().server;
  const settings = JSON.stringify({ apiBase: apiPrefix(compat), compat, version: context.version });
  app.get('/svc-config.js', (_request, response) => {
    response.type('text/javascript').send(`window.__SVC_CONFIG__ = ${settings};\n`);
  });
}

/** RFC 9110 section 7.8 lets a server ignore Upgrade; Weir speaks no other protocol here and says so. */
function refuseUpgrades(request: Request, _response: Response, next: NextFunction): void {
  const upgrade = request.headers.upgrade;
  // `curl --http2` offers h2c on its first request and is happy with HTTP/1.1.
  if (upgrade !== undefined && upgrade.toLowerCase() !== 'h2c')
    throw new ApiError(400, 'upgrade_refused', 'this server speaks HTTP only');
  next();
}

function logRequests({ logger, clock }: ApiContext) {
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
