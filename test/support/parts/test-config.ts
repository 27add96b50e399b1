/** Configurations for tests: the defaults, a free loopback port, and the changes of a test. */
import { parseConfig } from '../../../config/parse-config.ts';
import type { LoadedConfig } from '../../../config/parse-config.ts';
import type { Config } from '../../../config/schema.ts';

/** The configuration with these lines of TOML (dotted keys). */
export function testConfig(toml = ''): Config {
  return loadedConfig(toml).config;
}

/** The loaded configuration with these lines, and its complete text. */
export function loadedConfig(toml: string): LoadedConfig & { readonly text: string } {
  const address = toml.includes('server.bind_address') ? '' : 'server.bind_address = ["127.0.0.1"]';
  const text = `${address}\nserver.web_port = 0\n${toml}\n`;
  const result = parseConfig({ file: { name: 'test.toml', text }, env: {} });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return { ...result.value, text };
}
