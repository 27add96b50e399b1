import { describe, expect, test } from '@jest/globals';
import { browserNameOf } from './browser-name.ts';

describe('browserNameOf(), the browser of a session,', () => {
  test.each([
    ['Firefox', 'Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:152.0) Gecko/20100101 Firefox/152.0'],
    [
      'Chrome',
      'Windows',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
    ],
    [
      'Edge',
      'Windows',
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0',
    ],
    [
      'Safari',
      'iPhone',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1',
    ],
    [
      'Samsung Internet',
      'Android',
      'Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/30.0 Chrome/150.0 Mobile Safari/537.36',
    ],
    [
      'Firefox',
      'iPad',
      'Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/150.0 Mobile Safari/605.1.15',
    ],
    ['curl', null, 'curl/8.9.1'],
    [null, 'Linux', 'something (Linux)'],
    [null, null, ''],
  ])('returns %s on %s', (browser, system, agent) => {
    expect(browserNameOf(agent)).toEqual({ browser, system });
  });
});
