/** Secrets that are copied by hand: 80 random bits in four groups of four letters. */
import { createHash, randomInt } from 'node:crypto';

/** Crockford's Base32, whose letters cannot be mistaken for each other. Five bits each, 80 in total. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const SHAPE = /^[0-9a-hjkmnp-tv-z]{4}(?:-[0-9a-hjkmnp-tv-z]{4}){3}$/;

/** A new code. */
export function newReadableCode(): string {
  return Array.from({ length: 4 }, letters).join('-');
}

/** Whether a string is a code in its displayed form. */
export function isReadableCode(text: string): boolean {
  return SHAPE.test(text);
}

/**
 * The stored form, independent of letter case and hyphens. A plain hash suffices, because 80 random bits cannot be
 * guessed.
 */
export function hashReadableCode(code: string): Buffer {
  return createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest();
}

function letters(): string {
  return Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}
