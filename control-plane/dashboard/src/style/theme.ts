/** Dark or light: as the system says, or as chosen here. `public/theme.js` applies the choice before the first paint. */

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Where the choice is kept in the browser; `public/theme.js` reads the same. */
const CHOICE = 'weir.theme';

/** The choice in force. */
export function chosenTheme(): Theme {
  const kept = localStorage.getItem(CHOICE);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Keeps a choice and applies it. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(CHOICE);
    delete document.documentElement.dataset['theme'];
    return;
  }
  localStorage.setItem(CHOICE, theme);
  document.documentElement.dataset['theme'] = theme;
}
