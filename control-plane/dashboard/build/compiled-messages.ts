/** Compiles the messages of a language, ICU texts in JSON, at the time of building: the browser gets no parser. */
import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';

const MESSAGES = /\/i18n\/[a-z-]+\.json$/i;

/** The plugin; a message that cannot be compiled ends the build. */
export function compiledMessages(): Plugin {
  return {
    name: 'weir-messages',
    enforce: 'pre',
    transform(text, id) {
      if (!MESSAGES.test(id)) return null;
      const messages = JSON.parse(text) as Record<string, string>;
      const compiled = Object.fromEntries(
        Object.entries(messages).map(([key, message]) => [key, compileMessage(message)]),
      );
      return { code: `export default ${JSON.stringify(compiled)}`, moduleType: 'js', map: null };
    },
  };
}
