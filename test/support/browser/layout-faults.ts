/** Finds visible faults in the layout of a page, from the boxes that the browser computed. */
import type { Page } from './watched-page.ts';

/** Tolerated difference; rounding alone causes differences of one pixel. */
const TOLERANCE_PX = 2;
/** WCAG 2.2, criterion 2.5.8. */
const MIN_TARGET_PX = 24;

/**
 * Code that runs in the page; a string, because this file has no DOM types. Finds elements that overflow the window
 * horizontally, text cut off without an ellipsis, and targets that are too small or overlap.
 */
const LOOK = `(() => {
  const faults = [];
  const root = document.documentElement;
  const name = (element) =>
    element.tagName.toLowerCase() + ' ' + (element.getAttribute('aria-label') || element.textContent || '').trim().slice(0, 50);
  const isClipped = (element) => {
    for (let up = element; up !== null; up = up.parentElement)
      if (getComputedStyle(up).clipPath === 'inset(50%)') return true;
    return false;
  };
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.closest('.unseen, [aria-hidden="true"], [inert]') === null && !isClipped(element);
  if (root.scrollWidth > root.clientWidth + ${TOLERANCE_PX})
    faults.push('the page is wider than its window: ' + root.scrollWidth + ' > ' + root.clientWidth);
  const scrolls = (element) => {
    for (let up = element.parentElement; up !== null; up = up.parentElement)
      if (['auto', 'scroll'].includes(getComputedStyle(up).overflowX) || getComputedStyle(up).textOverflow === 'ellipsis') return true;
    return false;
  };
  for (const element of document.querySelectorAll('body *')) {
    if (!isSeen(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(element);
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim() !== '');
    const isCut = element.scrollWidth > element.clientWidth + ${TOLERANCE_PX} && ['hidden', 'clip'].includes(style.overflowX);
    if (hasText && isCut && style.textOverflow !== 'ellipsis') faults.push('text is cut off: ' + name(element));
    if ((box.right > root.clientWidth + ${TOLERANCE_PX} || box.left < -${TOLERANCE_PX}) && style.position !== 'fixed' && !scrolls(element))
      faults.push('sticks out sideways: ' + name(element));
  }
  const targets = [...document.querySelectorAll('button, a[href], input:not([type=hidden]), select, textarea, [role=button]')]
    .filter((element) => isSeen(element) && getComputedStyle(element).clipPath === 'none')
    .map((element) => ({ element, box: element.getBoundingClientRect(), isInText: getComputedStyle(element).display === 'inline' }))
    .filter(({ box }) => box.width > 1 && box.height > 1);
  for (const { element, box, isInText } of targets)
    if (!isInText && Math.min(box.width, box.height) < ${MIN_TARGET_PX} && element.tagName !== 'INPUT')
      faults.push('too small to hit: ' + name(element) + ' ' + Math.round(box.width) + 'x' + Math.round(box.height));
  const isFixed = (element) => {
    for (let up = element; up !== null; up = up.parentElement)
      if (['fixed', 'sticky'].includes(getComputedStyle(up).position)) return true;
    return false;
  };
  const still = targets.filter(({ element }) => !isFixed(element));
  still.forEach((one, place) => {
    for (const other of still.slice(place + 1)) {
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (width > ${TOLERANCE_PX} && height > ${TOLERANCE_PX} && one.element.closest('[data-rac]') !== other.element.closest('[data-rac]'))
        faults.push('lie over each other: ' + name(one.element) + ' and ' + name(other.element));
    }
  });
  return [...new Set(faults)];
})()`;

/** Faults of the layout; empty = none. */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(LOOK);
}
