/**
 * The page at `/check`, which shows whether the device that opens it uses this node. Public, because users of the page
 * may not have an account. Its script (`check-script.ts`) creates probes (`clients/probes/`), lets the browser look up
 * their names, and shows the result.
 */
import type { Request, Response } from 'express';
import type { Config } from '../../../config/schema.ts';
import { PROBE_ZONE } from '../../../shared/dns/probe-zone.ts';
import { clientAddress, isOnThisMachine, isThroughUnknownProxy } from '../../api/client-address.ts';
import { CHECK_SCRIPT, CHOICES_SCRIPT } from './check-script.ts';
import type { CheckTexts } from './check-texts/check-texts.ts';
import { CHECK_LANGUAGES, CHECK_TEXTS } from './check-texts/languages.ts';
import type { CheckLanguage } from './check-texts/languages.ts';
import { hashOf, page, sendPage, write } from './page.ts';
import type { Markup, Page } from './page.ts';

/** Parts of the page. */
export interface CheckParts {
  readonly nodeName: string;
  /** Whether the page has the form for requests to unblock a name (`blocking.unblock_requests`). */
  readonly canAsk: boolean;
}

/** Parts of the node from which the page is made. */
interface CheckNode extends Pick<CheckParts, 'nodeName'> {
  readonly configuration: { current(): Pick<Config, 'blocking'> };
}

/** The visitor of the page. */
export interface CheckReader {
  readonly language: CheckLanguage;
  /** The address from which the page was opened; null if the request came through a proxy or from this machine. */
  readonly address: string | null;
}

/** Sends the page. */
export function sendCheckPage(node: CheckNode, request: Request, response: Response): void {
  // Relative URLs on the page are resolved against its parent.
  if (request.path.endsWith('/')) {
    response.redirect(308, '../check');
    return;
  }
  response.setHeader('Vary', 'Accept-Language');
  const parts = { nodeName: node.nodeName, canAsk: node.configuration.current().blocking.unblock_requests };
  sendPage(response, checkPage(parts, { language: languageOf(request), address: addressOf(request) }));
}

/**
 * The language: `?lang=`, which the script sets to the language chosen in the dashboard; without it, the browser's
 * language if the page has it; if not, English.
 */
function languageOf(request: Request): CheckLanguage {
  const wanted = new URL(request.url, 'http://localhost').searchParams.get('lang');
  const accepted = request.acceptsLanguages(...CHECK_LANGUAGES);
  return (
    CHECK_LANGUAGES.find((tag) => tag === wanted) ?? CHECK_LANGUAGES.find((tag) => tag === accepted) ?? 'en'
  );
}

function addressOf(request: Request): string | null {
  return isOnThisMachine(request) || isThroughUnknownProxy(request) ? null : clientAddress(request);
}

/** Renders the page. */
export function checkPage({ nodeName, canAsk }: CheckParts, { language, address }: CheckReader): Page {
  const texts = CHECK_TEXTS[language];
  const steps = texts.steps.map((step) => write`<li>${step}</li>`);
  const body = write`
<div id="check" data-texts="${JSON.stringify(texts)}" data-node="${nodeName}" data-address="${address ?? ''}">
<h1>${texts.title}</h1>
<section class="card verdict">
<div role="status"><h2 id="result">${texts.checking}</h2><p id="detail" hidden></p></div>
<noscript><p>${texts.needsScript}</p></noscript>
</section>
<section class="card" id="families" hidden>
<h2>${texts.families}</h2>
<dl><dt>IPv4</dt><dd id="IPv4"></dd><dt>IPv6</dt><dd id="IPv6"></dd></dl>
<p id="familyNote" hidden></p>
<p id="senderNote" hidden></p>
<p id="limits" hidden></p>
</section>
<section class="card" id="more" hidden>
<h2>${texts.nextSteps}</h2>
<ol>${steps}</ol>
<p><a href="./guides">${texts.guides}</a></p>
</section>
${canAsk ? askForm(texts) : []}
<p class="links"><a href="">${texts.again}</a> <a href="./">${texts.dashboard}</a></p>
</div>
${{ markup: `<script>${CHECK_SCRIPT}</script>` }}`;
  return page(texts.title, body, {
    language,
    firstScript: CHOICES_SCRIPT,
    allowed: {
      'script-src': [hashOf(CHOICES_SCRIPT), hashOf(CHECK_SCRIPT)],
      // The browser may connect to this server, and try to reach the names of probes, which have no address.
      'connect-src': ["'self'", `http://*.${PROBE_ZONE}`, `https://*.${PROBE_ZONE}`],
    },
  });
}

/** Form in which a visitor requests that a name be unblocked; the script shows it. */
function askForm(texts: CheckTexts): Markup {
  return write`<section class="card" id="ask" hidden>
<h2>${texts.askTitle}</h2>
<form id="askForm">
<label for="askName">${texts.askName}</label>
<input id="askName" inputmode="url" autocapitalize="none" autocomplete="off" spellcheck="false" maxlength="1000" required />
<button>${texts.askButton}</button>
</form>
<p id="askState" role="status"></p>
</section>`;
}
