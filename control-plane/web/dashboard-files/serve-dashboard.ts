/**
 * Serves the dashboard from memory: one document at the path of each page, and the files of its build. A request is
 * answered by a lookup in a map, so that no path reaches the disk.
 */
import type { NextFunction, Request, Response } from 'express';
import { createHash } from 'node:crypto';
import { DashboardPath } from '../../../shared/dashboard-paths.ts';
import type { DashboardSource, DashboardState, WithoutBuild } from '../built-dashboard/dashboard-state.ts';
import type { Build } from '../built-dashboard/open-build.ts';
import { SESSION_COOKIE } from '../auth/session-cookie.ts';
import { answerOtherMethods } from '../edge/other-methods.ts';
import { contentPolicy } from '../edge/security-headers.ts';
import { ASK_FIRST, KEEP_FOR_EVER, sendKeptFile } from './cached-file.ts';
import type { KeptFile } from './cached-file.ts';

/** Dependencies of the routes. */
export interface DashboardParts {
  readonly dashboard: DashboardSource;
  /** Settings that a script passes to the page, as a JSON value. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether authentication is enabled. Without it, no page needs a session. */
  readonly hasLogin: () => boolean;
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
/** Names of the pages by the paths of their requests. */
const PAGES: ReadonlyMap<string, string> = new Map(
  Object.entries(DashboardPath).map(([page, path]) => [`/${path}`, page]),
);
const LOGIN_PATH = `/${DashboardPath.login}`;
const CONFIG_PATH = '/svc-config.js';
/** The scripts that the document loads before any module. */
const CLASSIC_SCRIPTS = ['start.js', CONFIG_PATH.slice(1)];

type Handler = (request: Request, response: Response, next: NextFunction) => Promise<void>;

/** The two handlers of the dashboard in the application. Both pass other requests on to the next handler. */
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

/** Creates both handlers. */
export function serveDashboard(parts: DashboardParts): DashboardHandlers {
  const { dashboard, settings, sendInstead } = parts;
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
    const shown = parts.hasLogin() ? shownPath(request) : path;
    const found = path === CONFIG_PATH ? config : find(shown, await dashboard.state());
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

/** The requested path, or the path of the login page if a page is requested without a session. */
function shownPath({ path, headers }: Request): string {
  const hasSession = headers.cookie?.includes(`${SESSION_COOKIE}=`) === true;
  return PAGES.has(path) && !hasSession ? LOGIN_PATH : path;
}

/** Whether a browser opens a page; false for requests of scripts and programs. */
function opensPage({ method, headers }: Request): boolean {
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? '');
}

function lastSegment(path: string): string {
  return path.split('/').findLast((segment) => segment !== '') ?? '';
}

/** The files of a build by the paths of their requests. */
function filesOf({ files, pages }: Build): Map<string, KeptFile> {
  const byPath = new Map<string, KeptFile>();
  for (const file of files) {
    const isHashed = file.path.startsWith('assets/');
    byPath.set(`/${file.path}`, { ...file, cacheControl: isHashed ? KEEP_FOR_EVER : ASK_FIRST });
  }
  const document = byPath.get('/index.html')!;
  byPath.delete('/index.html');
  for (const [path, page] of PAGES) {
    const fields = { 'Content-Security-Policy': PAGE_POLICY, Link: preloads(pages[page] ?? []) };
    byPath.set(path, { ...document, fields });
  }
  return byPath;
}

/**
 * A Link field (RFC 8288) with the scripts of the document and the files of a page, so that a browser requests them
 * before it has read the document and run its code.
 */
function preloads(files: readonly string[]): string {
  const modules = files.filter((path) => path.endsWith('.js'));
  const styles = files.filter((path) => path.endsWith('.css'));
  return [
    ...CLASSIC_SCRIPTS.map((path) => `<./${path}>; rel=preload; as=script`),
    ...modules.map((path) => `<./${path}>; rel=modulepreload`),
    ...styles.map((path) => `<./${path}>; rel=preload; as=style; crossorigin`),
  ].join(', ');
}

/** The script that passes the settings to the page, such as the path of the API. */
function configFile(settings: DashboardParts['settings']): KeptFile {
  const identity = Buffer.from(`window.__SVC_CONFIG__ = ${JSON.stringify(settings)};\n`);
  const sha256 = createHash('sha256').update(identity).digest('hex');
  return { type: 'text/javascript; charset=utf-8', sha256, forms: { identity }, cacheControl: ASK_FIRST };
}
