/**
 * Finds elements that users cannot distinguish with forced colours (`forced-colors: active`), which replace the page's
 * colours by a few system colours: shapes with only a background, and states that look like their opposite. Reads
 * computed styles.
 */
import type { Page } from './watched-page.ts';

const TOOLS = `
  const isSolid = (colour) => !/^transparent$|^rgba\\(.*, 0\\)$/.test(colour);
  const groundOf = (element) => {
    for (let up = element; up !== null; up = up.parentElement) {
      const { backgroundColor } = getComputedStyle(up);
      if (isSolid(backgroundColor)) return backgroundColor;
    }
    return 'none';
  };
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect();
    const isClipped = getComputedStyle(element).clipPath !== 'none';
    return width > 2 && height > 2 && !isClipped && element.checkVisibility({ visibilityProperty: true });
  };
  const name = (element) =>
    element.tagName.toLowerCase() + '.' + String(element.getAttribute('class')).split(' ').join('.') + ' "' +
    (element.getAttribute('aria-label') ?? element.textContent).trim().slice(0, 40) + '"';
  const hasOutline = (element) => {
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 && outlineColor !== groundOf(element.parentElement);
  };
  const hasEdge = (element) => {
    const style = getComputedStyle(element);
    const ground = groundOf(element.parentElement);
    return ['Top', 'Right', 'Bottom', 'Left'].some((side) =>
      style['border' + side + 'Style'] !== 'none' && parseFloat(style['border' + side + 'Width']) >= 1 &&
      isSolid(style['border' + side + 'Color']) && style['border' + side + 'Color'] !== ground);
  };
  const isFocused = (element) => {
    const { activeElement } = document;
    return element === activeElement || element.id === activeElement.getAttribute('aria-activedescendant');
  };
  const LOOKS = ['backgroundColor', 'color', 'borderTopColor', 'borderTopStyle', 'borderTopWidth', 'outlineStyle',
    'outlineColor', 'fill', 'fontWeight', 'visibility'];
  const lookOf = (element) => JSON.stringify([element, ...element.querySelectorAll('*')].map((part) => {
    const style = getComputedStyle(part);
    return LOOKS.map((look) => style[look]);
  }));
`;

/** Collects, before colours are forced, the elements whose background differs from the background behind them. */
const NOTE_SHAPES = `(() => {
  ${TOOLS}
  globalThis.shapes = [...document.body.querySelectorAll('*')].filter((element) =>
    isShown(element) && isSolid(getComputedStyle(element).backgroundColor) &&
    getComputedStyle(element).backgroundColor !== groundOf(element.parentElement));
  return shapes.length;
})()`;

const LOST_SHAPES = `(() => {
  ${TOOLS}
  return [...new Set(globalThis.shapes.filter((element) =>
    element.isConnected && isShown(element) && !hasEdge(element) && !hasOutline(element) &&
    groundOf(element) === groundOf(element.parentElement)).map(name))];
})()`;

/** Attributes of states that only a style makes visible. */
const STATES = ['data-selected', 'data-focused', 'aria-current'];

const LOST_STATES = `(() => {
  ${TOOLS}
  const found = { states: 0, lost: [] };
  for (const state of ${JSON.stringify(STATES)})
    for (const element of document.querySelectorAll('[' + state + ']:not(svg *)')) {
      // The innermost element shows the state of those around it, and a list that is open has the focus of its field.
      if (!isShown(element) || element.querySelector('[' + state + ']') !== null) continue;
      if (state === 'data-focused' && !isFocused(element)) continue;
      const [value, look] = [element.getAttribute(state), lookOf(element)];
      element.removeAttribute(state);
      // The browser's ring also shows the focus.
      const isShownOtherwise = state === 'data-focused' && hasOutline(element);
      if (lookOf(element) === look && !isShownOtherwise) found.lost.push(state + ' of ' + name(element));
      else found.states++;
      element.setAttribute(state, value);
    }
  return found;
})()`;

/** Shapes of the page that forced colours hide. Leaves forced colours enabled. */
export async function lostShapes(page: Page): Promise<string[]> {
  await page.emulateMedia({ forcedColors: 'none' });
  await page.evaluate(NOTE_SHAPES);
  await page.emulateMedia({ forcedColors: 'active' });
  return page.evaluate<string[]>(LOST_SHAPES);
}

/** Number of states that are visible with forced colours, and the states that are not visible. */
export function shownStates(page: Page): Promise<{ readonly states: number; readonly lost: string[] }> {
  return page.evaluate(LOST_STATES);
}
