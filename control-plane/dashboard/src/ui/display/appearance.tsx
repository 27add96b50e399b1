/** How the page looks here: theme and language. Kept in this browser only. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { chooseLanguage, chosenLanguage, LANGUAGES } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { chooseTheme, chosenTheme, THEMES } from '../../style/theme.ts';
import type { Theme } from '../../style/theme.ts';
import { SelectField } from '../controls/fields.tsx';
import { Segments } from '../controls/segments.tsx';
import { Stack } from './page.tsx';

/** Both choices. */
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

/** Each language in its own words. */
function nameOf(tag: string): string {
  return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
}
