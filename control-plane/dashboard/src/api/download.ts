/** Saves what the API answers as a file. The browser asks for it and stores it as it comes; nothing is held here. */
import { API_BASE } from './place.ts';

/** Saves the answer of a GET under this name, or under that which the server gives it. */
export function download(path: string, query: Readonly<Record<string, string>>, name: string): void {
  const link = document.createElement('a');
  link.href = `${API_BASE}${path}?${new URLSearchParams(query)}`;
  link.download = name;
  link.click();
}
