import { expect, test } from '@jest/globals';
import { compareBuilds } from './compare-builds.ts';

const document = (entry: string): string =>
  `<head><script src="./theme.js"></script><script type="module" crossorigin src="${entry}"></script></head>`;

test.each([
  ['./assets/first-a.js', document('./assets/first-a.js'), 'same'],
  ['/weir/assets/first-a.js', document('./assets/first-a.js'), 'same'],
  ['./assets/first-a.js', document('./assets/first-b.js'), 'changed'],
  ['./assets/first-a.js', '<h1>502 Bad Gateway</h1>', 'unreachable'],
  ['./assets/first-a.js', '', 'unreachable'],
])('compareBuilds() of %j and %j is %j', (own, html, expected) => {
  expect(compareBuilds(own, html)).toBe(expected);
});
