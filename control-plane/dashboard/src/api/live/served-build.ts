/** Finds out whether Weir still serves the build of this page, or a different build after an upgrade. */
import { compareBuilds } from './compare-builds.ts';
import type { ServedBuild } from './compare-builds.ts';
import { noteLostRequest } from '../lost-requests.ts';
import { PAGE_BASE } from '../place.ts';

/** Requests the HTML document, which names the files of its build. */
export async function findServedBuild(): Promise<ServedBuild> {
  const scripts = document.querySelectorAll('script[type="module"][src]');
  const own = Array.from(scripts, (script) => script.getAttribute('src') ?? '');
  try {
    const response = await fetch(`${PAGE_BASE}/`, { cache: 'no-store', credentials: 'same-origin' });
    return compareBuilds(own, response.ok ? await response.text() : '');
  } catch {
    noteLostRequest();
    return 'unreachable';
  }
}
