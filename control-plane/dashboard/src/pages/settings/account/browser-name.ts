/**
 * Browser and system according to a user agent string. Clients can send any string; the result only helps users
 * recognise their own sessions.
 */

/** The first match wins: user agents also contain the names of browsers that they imitate. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Vivaldi\//, 'Vivaldi'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\/|Chromium\//, 'Chrome'],
  [/Version\/.*Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** Browser and system; null if unknown. */
export interface BrowserName {
  readonly browser: string | null;
  readonly system: string | null;
}

export function browserNameOf(agent: string): BrowserName {
  return { browser: firstIn(BROWSERS, agent), system: firstIn(SYSTEMS, agent) };
}

function firstIn(names: typeof BROWSERS, agent: string): string | null {
  return names.find(([pattern]) => pattern.test(agent))?.[1] ?? null;
}
