import { describe, expect, test } from '@jest/globals';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { later } from './later-view.ts';

describe('later(), which loads a view lazily,', () => {
  test('renders a preloaded view at once', async () => {
    const view = later(async () => ({
      default: ({ name }: { name: string }) => createElement('b', null, name),
    }));
    await view.load();
    expect(renderToString(createElement(view, { name: 'here' }))).toBe('<b>here</b>');
  });

  test('fails if the code no longer exists, and loads the code again at the next attempt', async () => {
    let tries = 0;
    const view = later(async () => {
      if (++tries === 1) throw new Error('gone');
      return { default: () => 'back' };
    });
    await expect(view.load()).rejects.toThrow('gone');
    await view.load();
    expect(renderToString(createElement(view))).toBe('back');
  });
});
