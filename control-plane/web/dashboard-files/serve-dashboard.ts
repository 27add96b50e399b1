/**
 * Serves the dashboard from memory: one document at the path of each page, and the files of its build. A request is
 * answered by a lookup in a map, so that no path reaches the disk.
 */
import type { NextFunction, Request, Response } from 'express';
import { createHash } from 'node:crypto';
import { DashboardPath } from '../../../shared/dashboard-paths.ts';
import type { DashboardSource, DashboardState, WithoutBuild } from '../built-dashboard/dashboard-state.ts';
import type { Build } from '../built-dashboard/open-build.ts';
import { answerOtherMethods } from '../edge/other-methods.ts';
import { contentPolicy } from '../edge/security-headers.ts';
import { ASK_FIRST, KEEP_FOR_EVER, sendKeptFile } from './cached-file.ts';
import type { KeptFile } from './cached-file.ts';

/** Dependencies of the routes. */
export interface DashboardParts {
  readonly dashboard: DashboardSource;
  /** Settings that a script passes to the page, as a JSON value. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Sends a page with the reason why there is no dashboard. */
  readonly sendInstead: (request: Request, response: Response, why: WithoutBuild) => void;
}

const PAGE_POLICY = contentPolicy({
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  // Icons of services, which are drawings without scripts.
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'manifest-src': ["'self'"],
});
const PAGES: ReadonlySet<string> = new Set(Object.values(DashboardPath).map((path) => `/${path}`));
const CONFIG_PATH = '/svc-config.js';

type Handler = (request: Request, response: Response, next: NextFunction) => Promise<void>;

/** The two handlers of the dashboard in the application. Both pass on other requests. */
export interface DashboardHandlers {
  /** Answers requests for the dashboard. */
  readonly serve: Handler;
  /**
   * Answers a browser that opens an unknown page with the document, which shows an error. Must come last. Deeper paths
   * are redirected to their last segment, since the addresses in the document are relative.
   */
  readonly serveUnknown: Handler;
}

const otherMethods = answerOtherMethods(['GET']);

/** Creates both. */
export function serveDashboard({ dashboard, settings, sendInstead }: DashboardParts): DashboardHandlers {
  const config = configFile(settings);
  const files = new WeakMap<Build, ReadonlyMap<string, KeptFile>>();
  const find = (path: string, state: DashboardState): KeptFile | WithoutBuild | undefined => {
    if (state.kind !== 'built') return PAGES.has(path) ? state : undefined;
    const known = files.get(state.build) ?? filesOf(state.build);
    files.set(state.build, known);
    return known.get(path);
  };
  const serve: Handler = async (request, response, next) => {
    const { path } = request;
    const found = path === CONFIG_PATH ? config : find(path, await dashboard.state());
    if (found === undefined) {
      next();
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') otherMethods(request, response);
    else if ('forms' in found) sendKeptFile(request, response, found);
    else sendInstead(request, response, found);
  };
  const serveUnknown: Handler = async (request, response, next) => {
    const document = find('/', await dashboard.state());
    if (!opensPage(request) || document === undefined || !('forms' in document)) {
      next();
      return;
    }
    const depth = request.path.split('/').length - 2;
    if (depth === 0) sendKeptFile(request, response.status(404), document);
    else
      response
        .status(302)
        .set('Location', '../'.repeat(depth) + lastSegment(request.path))
        .end();
  };
  return { serve, serveUnknown };
}

/** Whether a browser requests a page, as opposed to any request of a program. */
function opensPage({ method, headers }: Request): boolean {
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? '');
}

function lastSegment(path: string): string {
  return path.split('/').findLast((segment) => segment !== '') ?? '';
}

/** The files of a build by the paths of their requests. */
function filesOf({ files }: Build): Map<string, KeptFile> {
  const byPath = new Map<string, KeptFile>();
  for (const file of files) {
    const isHashed = file.path.startsWith('assets/');
    byPath.set(`/${file.path}`, { ...file, cacheControl: isHashed ? KEEP_FOR_EVER : ASK_FIRST });
  }
  const document = byPath.get('/index.html')!;
  byPath.delete('/index.html');
  for (const path of PAGES)
    byPath.set(path, { ...document, fields: { 'Content-Security-Policy': PAGE_POLICY } });
  return byPath;
}

/** The script that passes the settings to the page, such as the path of the API. */
function configFile(settings: DashboardParts['settings']): KeptFile {
  const identity = Buffer.from(`window.__SVC_CONFIG__ = ${JSON.stringify(settings)};\n`);
  const sha256 = createHash('sha256').update(identity).digest('hex');
  return { type: 'text/javascript; charset=utf-8', sha256, forms: { identity }, cacheControl: ASK_FIRST };
}
