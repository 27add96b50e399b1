/** Saves API responses as files. */
import { API_BASE } from './place.ts';

/** Downloads the response to a GET request. The file gets the name `name`, unless the response contains a name. */
export function download(path: string, query: Readonly<Record<string, string>>, name: string): void {
  const link = document.createElement('a');
  link.href = `${API_BASE}${path}?${new URLSearchParams(query)}`;
  link.download = name;
  link.click();
}

/** Saves a text as a file with this name. */
export function saveText(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
