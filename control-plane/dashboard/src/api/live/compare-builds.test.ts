import { expect, test } from '@jest/globals';
import { compareBuilds } from './compare-builds.ts';

const OWN = ['./assets/runtime-x.js', '/weir/assets/first-a.js'];
const documentOf = (...scripts: readonly string[]): string =>
  `<script src="./start.js"></script>${scripts.map((src) => `<script type="module" crossorigin src="${src}"></script>`).join('')}`;

test.each([
  [documentOf('./assets/runtime-x.js', './assets/first-a.js'), 'same'],
  [documentOf('./assets/runtime-x.js', './assets/first-b.js'), 'changed'],
  ['<h1>502 Bad Gateway</h1>', 'unreachable'],
  ['', 'unreachable'],
])('compareBuilds() for %j is %j', (html, expected) => {
  expect(compareBuilds(OWN, html)).toBe(expected);
});
