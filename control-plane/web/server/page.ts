/** Renders and sends HTML pages, with one inline style sheet and no script except for `/check`. */
import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { contentPolicy } from '../edge/security-headers.ts';
import type { ContentDirectives } from '../edge/security-headers.ts';

/** A finished page. */
export interface Page {
  readonly html: string;
  /** Content-Security-Policy of the page: only its own style sheet may be used. */
  readonly contentPolicy: string;
}

/** HTML that is already escaped. */
export interface Markup {
  readonly markup: string;
}

/** Builds markup; inserted values are escaped, unless they are markup or lists of markup. */
export function write(
  texts: TemplateStringsArray,
  ...values: readonly (Markup | readonly Markup[] | string | number)[]
): Markup {
  const parts = texts.map((text, index) => text + (index < values.length ? render(values[index]!) : ''));
  return { markup: parts.join('') };
}

function render(value: Markup | readonly Markup[] | string | number): string {
  if (typeof value === 'object' && 'markup' in value) return value.markup;
  if (typeof value === 'object') return value.map((part) => part.markup).join('');
  return String(value).replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** The source in a content policy that allows this inline text. */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Parts of a page in addition to its body. */
interface PageOptions {
  /** Default: `en`. */
  readonly language?: string;
  /** Runs before the first paint; `allowed` must permit it. */
  readonly firstScript?: string;
  /** Sources that the page's content policy allows in addition to the style sheet. */
  readonly allowed?: ContentDirectives;
}

/** A page with the common style sheet. */
export function page(title: string, body: Markup, options: PageOptions = {}): Page {
  const { language = 'en', firstScript, allowed = {} } = options;
  const script = { markup: firstScript === undefined ? '' : `<script>${firstScript}</script>` };
  const { markup } = write`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${script}
        ${{ markup: `<style>${STYLE}</style>` }}
      </head>
      <body>
        <main>
          ${body}
        </main>
      </body>
    </html> `;
  return { html: markup, contentPolicy: contentPolicy({ 'style-src': [STYLE_HASH], ...allowed }) };
}

/** Sends a page. */
export function sendPage(response: Response, { html: markup, contentPolicy }: Page): void {
  response.setHeader('Content-Security-Policy', contentPolicy);
  response.type('html').send(markup);
}

/** Colours and type are those of the dashboard (`dashboard/src/style/tokens.css`). */
const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f5f6f7, #131517);
  --surface: light-dark(#ffffff, #1b1e21);
  --line: light-dark(#d5d9dd, #34393f);
  --text: light-dark(#181b1f, #eceef0);
  --text-quiet: light-dark(#545c65, #a9b1ba);
  --accent: light-dark(#0b5c73, #7fd0e4);
  --focus: light-dark(#0b5c73, #9adcec);
  --good: light-dark(#116149, #6ed4b3);
  --good-ground: light-dark(#e0f3ec, #15332a);
  --warning: light-dark(#7a5200, #f2c75c);
  --warning-ground: light-dark(#fbf0d6, #3b3015);
  --fault: light-dark(#a0174b, #ff94b4);
  --fault-ground: light-dark(#fbe6ee, #431a2a);
  --font: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  --font-code: ui-monospace, 'SF Mono', 'Cascadia Mono', 'Noto Sans Mono', monospace;
  --radius: 0.625rem;
}
:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; }
body { font: 100%/1.5 var(--font); color: var(--text); background: var(--ground); max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
code, pre { font-family: var(--font-code); font-size: 0.9em; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.5rem 0; padding: 0.5rem 0.75rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
td { overflow-wrap: break-word; min-width: 4rem; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; color: var(--accent); }
#check { max-width: 40rem; margin: 0 auto; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: 1rem; margin: 1rem 0; overflow-wrap: anywhere; }
.card h2 { font-size: 1.125rem; margin: 0; }
.card li { margin: 0.5rem 0; }
.verdict h2 { font-size: 1.375rem; }
[data-verdict='all'] .verdict { background: var(--good-ground); border-color: var(--good); }
[data-verdict='all'] .verdict h2::before { content: '✓ ' / ''; color: var(--good); }
[data-verdict='some'] .verdict, [data-verdict='failed'] .verdict { background: var(--warning-ground); border-color: var(--warning); }
[data-verdict='none'] .verdict { background: var(--fault-ground); border-color: var(--fault); }
[data-verdict='none'] .verdict h2::before, [data-verdict='some'] .verdict h2::before { content: '! ' / ''; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; }
#ask form { display: grid; gap: 0.5rem; margin-top: 0.75rem; justify-items: start; }
#ask input { box-sizing: border-box; width: 100%; }
#ask input, #ask button { font: inherit; color: inherit; min-height: 2.75rem; padding: 0.5rem 0.75rem; background: var(--ground); border: 1px solid var(--text-quiet); border-radius: 6px; }
#ask button { cursor: pointer; }
#families p { color: var(--text-quiet); }
.links a { display: inline-block; padding: 0.75rem 1rem 0.75rem 0; }
`;

const STYLE_HASH = hashOf(STYLE);
