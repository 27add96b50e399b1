/** How pages for people are written and sent: HTML made on the server, one inline style, no script but of `/check`. */
import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { contentPolicy } from './edge/security-headers.ts';
import type { ContentDirectives } from './edge/security-headers.ts';

/** A finished page. */
export interface Page {
  readonly html: string;
  /** Its Content-Security-Policy: only the page's own style sheet may be used. */
  readonly contentPolicy: string;
}

/** HTML that needs no more escaping. */
export interface Markup {
  readonly markup: string;
}

/** Builds markup; whatever is put in is escaped, unless it is markup itself or a list of it. */
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

/** The source of a content policy that stands for this inline text. */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A page with the house's style sheet; `allowed` is what its policy allows besides that. */
export function page(title: string, body: Markup, allowed: ContentDirectives = {}): Page {
  const { markup } = write`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
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

const STYLE = `
:root { color-scheme: light dark; --edge: #8884; --accent: light-dark(#0a5a9c, #7cc4ff); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; border: 1px solid var(--edge); border-radius: 6px; padding: 0.75rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--edge); }
details { border: 1px solid var(--edge); border-radius: 6px; margin: 0.5rem 0; padding: 0.5rem 0.75rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
td { overflow-wrap: break-word; min-width: 4rem; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; color: var(--accent); }
`;

const STYLE_HASH = hashOf(STYLE);
