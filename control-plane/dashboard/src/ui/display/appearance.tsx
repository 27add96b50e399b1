/** Theme and language, which are stored only in this browser. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { chooseLanguage } from '../../i18n/language.ts';
import { chosenLanguage, LANGUAGES } from '../../i18n/message-files.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../controls/fields.tsx';
import { Segments } from '../controls/segments.tsx';
import { Stack } from './page.tsx';

export function Appearance(): ReactNode {
  const { say } = useText();
  const [theme, setTheme] = useState<Theme>(chosenTheme());
  const [language, setLanguage] = useState(chosenLanguage() ?? 'system');
  const names = LANGUAGES.map((tag) => ({ id: tag, text: nameOf(tag) }));
  return (
    <Stack>
      <Segments
        label={say('appearance.theme')}
        value={theme}
        choices={THEMES.map((id) => ({ id, text: say(`theme.${id}`) }))}
        onChange={(chosen) => {
          setTheme(chosen);
          chooseTheme(chosen);
        }}
      />
      <SelectField
        label={say('appearance.language')}
        value={language}
        choices={[{ id: 'system', text: say('appearance.browser') }, ...names]}
        onChange={(chosen) => {
          setLanguage(chosen);
          void chooseLanguage(chosen === 'system' ? null : chosen);
        }}
      />
    </Stack>
  );
}

/** Name of a language in that language. */
function nameOf(tag: string): string {
  return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
}

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** Key of the theme in the browser's storage, which `public/start.js` also reads. */
const CHOICE = 'weir.theme';

/** The selected theme: dark, light or the system's. `public/start.js` applies it before the first paint. */
function chosenTheme(): Theme {
  const kept = localStorage.getItem(CHOICE);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Stores and applies a theme. */
function chooseTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(CHOICE);
    delete document.documentElement.dataset['theme'];
    return;
  }
  localStorage.setItem(CHOICE, theme);
  document.documentElement.dataset['theme'] = theme;
}
