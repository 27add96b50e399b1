/** Saves what the API answers as a file. */
import { API_BASE } from './place.ts';

/** Saves the answer of a GET, which the browser stores as it comes, under this name, or under that which the server gives it. */
export function download(path: string, query: Readonly<Record<string, string>>, name: string): void {
  const link = document.createElement('a');
  link.href = `${API_BASE}${path}?${new URLSearchParams(query)}`;
  link.download = name;
  link.click();
}

/** Saves a text under this name. */
export function saveText(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
