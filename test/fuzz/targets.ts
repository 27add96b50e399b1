/** All targets by name. Each target is loaded separately, so that the code of the other targets uses no counters. */
import type { Target } from './target.ts';

type Loading = () => Promise<{ readonly target: Target }>;

/** The targets. */
export const TARGETS: Readonly<Record<string, Loading>> = {
  'wire-query': () => import('./targets/wire-query-target.ts'),
  response: () => import('./targets/response-target.ts'),
  'proxy-header': () => import('./targets/proxy-header-target.ts'),
  dnssec: () => import('./targets/dnssec-target.ts'),
  list: () => import('./targets/list-target.ts'),
  configuration: () => import('./targets/configuration-target.ts'),
  http2: () => import('./targets/http2-target.ts'),
  'stream-framing': () => import('./targets/stream-framing-target.ts'),
  expression: () => import('./targets/expression-target.ts'),
  'short-texts': () => import('./targets/short-texts-target.ts'),
  'import-file': () => import('./targets/import-file-target.ts'),
  'import-content': () => import('./targets/import-content-target.ts'),
};

/** Loads a target; throws for an unknown one. */
export async function loadTarget(name: string): Promise<Target> {
  const load = TARGETS[name];
  if (load === undefined)
    throw new Error(`fuzz: no target ${name}; there are ${Object.keys(TARGETS).join(', ')}`);
  return (await load()).target;
}
