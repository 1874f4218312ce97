/** A folder with the certificates of `test/fixtures/tls`, and others, beside a configuration that names them. It goes when all tests of the file are over. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { ConfigError, type ConfigFault } from '../../src/config/diagnostic.ts';
import { loadConfigWithFiles, type LoadedConfig } from '../../src/config/load.ts';
import type { Environment } from '../../src/config/document.ts';
import { certificateFolder } from '../receivers/certificates.ts';
import { members } from './members.ts';
import { validators } from '../builders/validators.ts';

export interface PemFolder {
  readonly path: string;
  /** Absolute. */
  at(name: string): string;
  /** The text of one of its files. */
  pem(name: string): string;
  put(name: string, text: string): void;
  load(text: string, given?: LoadGiven): Promise<LoadedConfig>;
  /** Empty: there are none. */
  faultsOf(text: string, given?: LoadGiven): Promise<readonly ConfigFault[]>;
}

export interface LoadGiven {
  readonly env?: Environment;
  readonly nowMs?: number | undefined;
}

/** Within the life of the certificates. */
const now = Date.UTC(2030, 0, 1);

export function pemFolder(): PemFolder {
  const path = mkdtempSync(join(tmpdir(), 'tracejury-pem-'));
  afterAll(() => rmSync(path, { recursive: true }));
  cpSync(certificateFolder, path, { recursive: true });
  const load = (text: string, { env = {}, nowMs = now }: LoadGiven = {}): Promise<LoadedConfig> =>
    loadConfigWithFiles({ validators, file: join(path, 'a.yaml'), text, env, evaluators: members, nowMs });
  return {
    path,
    at: (name) => join(path, name),
    pem: (name) => readFileSync(join(path, name), 'utf8'),
    put: (name, text) => writeFileSync(join(path, name), text),
    load,
    async faultsOf(...given) {
      try {
        await load(...given);
      } catch (error) {
        if (error instanceof ConfigError) return error.faults;
        throw error;
      }
      return [];
    },
  };
}

/** One fault in the second line, at the value of the last part of `key`, that names the remedy and quotes no key. */
export function expectFault(
  faults: readonly ConfigFault[],
  { line, key, problem }: { readonly line: string; readonly key: string; readonly problem: string },
): void {
  const [fault, ...others] = faults;
  expect(others).toEqual([]);
  const named = key.slice(key.lastIndexOf('.') + 1);
  expect(fault).toMatchObject({ line: 2, column: line.indexOf(`${named}: `) + named.length + 3, key, problem });
  expect(fault?.todo).toMatch(/\w{3}.*\.$/);
  expect(JSON.stringify(fault)).not.toMatch(/s3cret|MHcC|MIGH/);
}
