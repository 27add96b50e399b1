/** Disguised paths and methods that have bypassed the guards of other servers. Run by `credentials.test.ts`. */

/** Other spellings of a path that a server or a proxy might treat as the path itself. */
export function disguises(prefix: string, path: string): string[] {
  const place = `${prefix}${path}`;
  const last = place.length - 1;
  return [
    `/${place}`,
    `//127.0.0.1${place}`,
    `${prefix}/${path}`,
    `${prefix}/.${path}`,
    `${prefix}/x/..${path}`,
    `${prefix}/..;${path}`,
    `${prefix};x${path}`,
    `${prefix}/health/..${path}`,
    `${prefix}/health/..%2f${path.slice(1)}`,
    `${prefix}/health;${path}`,
    `/docs/..${place}`,
    `/check/probes/..%2f..${place}`,
    `/login/oidc/../..${place}`,
    `/dns-query/..${place}`,
    `/..${place}`,
    `/%2e%2e${place}`,
    place.toUpperCase(),
    `/%${place.charCodeAt(1).toString(16)}${place.slice(2)}`,
    place.replaceAll('/', '%2f').replace('%2f', '/'),
    place.replaceAll('/', '\\').replace('\\', '/'),
    `${place.slice(0, last)}%${place.charCodeAt(last).toString(16)}`,
    `${place}/`,
    `${place}//`,
    `${place}/.`,
    `${place}.`,
    `${place}..`,
    `${place}.json`,
    `${place};x=1`,
    `${place}%00`,
    `${place}%20`,
    `${place}%2f`,
    `${place}%3f`,
    `${place}?${prefix}/health`,
    `${place}#${prefix}/health`,
    `http://127.0.0.1${place}`,
  ];
}

/** Every sixth member of a list. `turn` selects the first one, so that each member is used for some path. */
export function inTurn<T>(members: readonly T[], turn: number): T[] {
  return members.filter((_, at) => at % 6 === turn % 6);
}

/** A request: method, path, header fields. */
export type Trick = readonly [method: string, place: string, headers?: Readonly<Record<string, string>>];

/** Requests that some servers mistake for a request with `method` to `place`. */
export function methodsInDisguise(method: string, place: string, harmless: string): Trick[] {
  const override = { 'x-http-method-override': method, 'x-http-method': method, 'x-method-override': method };
  const elsewhere = { 'x-original-url': place, 'x-rewrite-url': place, 'x-forwarded-prefix': place };
  return [
    ...['GET', 'HEAD', 'OPTIONS', 'TRACE', 'POST'].map((sent) => [sent, place, override] as const),
    ['GET', `${place}?_method=${method}`],
    ['POST', `${place}?_method=${method}`],
    [method, harmless, elsewhere],
    ['GET', harmless, elsewhere],
  ];
}
