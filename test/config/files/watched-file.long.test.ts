/** Files whose changes are noticed: all that a configuration may name, at any number. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { watchedFile, type WatchedFile } from '../../../src/config/files/watched-file.ts';
import { members } from '../members.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-watched-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

function times(count: number, line: (nth: number) => string): string {
  return Array.from({ length: count }, (_, at) => line(at + 1)).join('\n');
}

const tls = (name: string): string => `tls: { ca_file: ${name}-ca.pem, cert_file: ${name}-cert.pem, key_file: ${name}-key.pem }`;

/** The largest number of each kind; none of the files exists. */
const most = `
listen: { tls: { cert_file: own-cert.pem, key_file: own-key.pem, client_ca_file: own-ca.pem } }
tools:
${times(100, (nth) => `  - { file: tools-${nth}.json }`)}
judges:
${times(100, (nth) => `  judge-${nth}: { model: m, base_url: "https://judge/v1", ${tls(`judge-${nth}`)} }`)}
evaluators:
${times(100, (nth) => `  - { use: ./own-${nth}.mjs, name: own-${nth}, ${tls(`evaluator-${nth}`)}${nth > 50 ? '' : `, drift: { dataset: drift-${nth}.jsonl }`} }`)}
${times(400, (nth) => `  - { use: http, name: more-${nth}, options: { url: "https://own/" }, ${tls(`evaluator-${100 + nth}`)} }`)}
export:
${times(20, (nth) => `  - { to: phoenix, name: phoenix-${nth}, endpoint: "https://backend", ${tls(`phoenix-${nth}`)} }`)}
`;

/** Those of these files whose writing is noticed. */
async function noticed(watched: WatchedFile, names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  let before = await watched.change();
  expect(before).toBeUndefined();
  for (const name of names) {
    writeFileSync(join(folder, name), 'x');
    const now = await watched.change();
    if (now !== before) found.push(name);
    before = now;
  }
  return found;
}

async function faultsOf(watched: WatchedFile): Promise<readonly string[]> {
  const error: unknown = await watched.read().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ConfigError ? error.faults.map(({ problem }) => problem) : [];
}

test('watched file: with as many files as the sections allow, a change of the last one of each kind is noticed', async () => {
  writeFileSync(join(folder, 'most.yaml'), most);
  const watched = watchedFile({ file: join(folder, 'most.yaml'), env: {}, evaluators: members });
  const faults = await faultsOf(watched);
  // Files that are missing, and nothing that is too much.
  expect(faults.filter((problem) => problem.includes('there may be') || problem.includes('at most'))).toEqual([]);
  const last = [
    'own-100.mjs',
    'tools-100.json',
    'drift-50.jsonl',
    'own-ca.pem',
    'judge-100-key.pem',
    'evaluator-500-key.pem',
    'phoenix-20-key.pem',
    'most.yaml',
  ];
  expect(await noticed(watched, last)).toEqual(last);
});

test('watched file: with more the configuration is refused, the files beyond are not looked at, and all others are', async () => {
  writeFileSync(
    join(folder, 'more.yaml'),
    `tools:\n${times(101, (nth) => `  - { file: more-${nth}.json }`)}\nlisten: { tls: { cert_file: c.pem, key_file: k.pem } }\n`,
  );
  const watched = watchedFile({ file: join(folder, 'more.yaml'), env: {}, evaluators: members });
  expect(await faultsOf(watched)).toContain('"more-101.json" exceeds the limit of 100 files');
  expect(await noticed(watched, ['more-101.json', 'more-100.json', 'k.pem', 'more.yaml'])).toEqual(['more-100.json', 'k.pem', 'more.yaml']);
});
