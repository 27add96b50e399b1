import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFiles } from './list-files.ts';

test('listFiles() writes the same names in every format', () => {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-test-'));
  try {
    const lists = listFiles(dir, ['ads.example.com', 'b.example.net']);
    const text = (format: 'plain' | 'dnsmasq' | 'rpz' | 'unbound'): string =>
      readFileSync(lists.file(format), 'utf8');
    expect(text('plain')).toBe('ads.example.com\nb.example.net\n');
    expect(text('dnsmasq')).toBe('local=/ads.example.com/\nlocal=/b.example.net/\n');
    expect(text('rpz')).toMatch(/SOA[^]*\nads\.example\.com CNAME \.\nb\.example\.net CNAME \.\n$/);
    expect(text('unbound')).toContain('local-zone: "b.example.net" always_null\n');
  } finally {
    rmSync(dir, { recursive: true });
  }
});
