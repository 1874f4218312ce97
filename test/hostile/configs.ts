/** Configurations that are too large, endless, or mean something else than they say. */
import { evaluators } from '../../evaluators/index.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfigWithFiles } from '../../src/config/load.ts';
import type { HostileCase, Send } from './case.ts';

function loaded(text: string): Send {
  return async () => {
    try {
      await loadConfigWithFiles({
        file: 'hostile.yaml',
        text,
        env: { LOOP: '${env:LOOP}', YAML: 'a: [', LIST: '[1, 2]', LONG: 'x'.repeat(1_000_000) },
        evaluators,
      });
      return { status: 'fine', says: '', rejected: 0 };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { status: 'faults', says: error.faults.map(({ problem }) => problem).join('\n'), rejected: 0 };
    }
  };
}

const config = (name: string, text: string | (() => string), says?: RegExp): HostileCase => ({
  name,
  prepare: () => loaded(typeof text === 'string' ? text : text()),
  want: { status: says === undefined ? 'fine' : 'faults', requests: {}, ...(says === undefined ? {} : { says }) },
});

const laughs = `a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n${[...'bcdefgh']
  .map(
    (name, at) =>
      `${name}: &${name} [${Array(9)
        .fill(`*${'abcdefg'[at] ?? ''}`)
        .join(', ')}]`,
  )
  .join('\n')}\n`;

export const configCases: readonly HostileCase[] = [
  config('aliases of aliases of aliases', laughs, /more than 1000 aliases/),
  config('an anchor that holds itself', 'limits: &a { body_bytes: *a }\n', /./),
  config('an anchor under an evaluator that holds itself', 'evaluators: &e\n  - use: *e\n', /./),
  config('a merge of a merge', 'x: &x { <<: *x }\n', /./),
  config('brackets a hundred thousand deep', () => `limits: ${'['.repeat(100_000)}`, /./),
  config('braces a hundred thousand deep', () => `limits: ${'{a: '.repeat(100_000)}`, /./),
  config('lists a hundred thousand deep by dashes', () => '- '.repeat(100_000), /./),
  config('10 MiB of comments', () => `# ${'x'.repeat(78)}\n`.repeat(131_072)),
  config('10 MiB of one text', () => `limits: "${'x'.repeat(10 * 1024 * 1024)}"\n`, /./),
  config('a megabyte of unknown keys', () => Array.from({ length: 50_000 }, (_, at) => `key_${at}: ${at}\n`).join(''), /./),
  config('tabs for blanks', 'limits:\n\tbody_bytes: 1MiB\n', /tab/i),
  config('one key twice', 'limits: { body_bytes: 1MiB, body_bytes: 2MiB }\n', /already in the same mapping/),
  config('one section twice', 'closing: { settle: 1s }\nclosing: { settle: 2s }\n', /already in the same mapping/),
  config('an unknown key', 'limts: {}\n', /not a known key/),
  config('names of the object prototype', '__proto__: { limits: 1 }\nconstructor: {}\nhasOwnProperty: 1\n', /./),
  config('a variable that names itself', 'store: { url: "${env:LOOP}" }\n', /./),
  config('a variable that is broken YAML', 'limits: { body_bytes: "${env:YAML}" }\n', /./),
  config('a variable that is a list', 'limits: { body_bytes: "${env:LIST}" }\n', /./),
  config('a variable of a million characters', 'groups: { task_key: "${env:LONG}" }\n', /./),
  config('a variable that is not there', 'store: { url: "${env:NOBODY}" }\n', /NOBODY/),
  config('a variable whose name is not closed', 'store: { url: "${env:A" }\n', /./),
  config('a tag that would run code', 'limits: !!js/function "function () {}"\n', /./),
  config('a binary tag', 'limits: !!binary aGVsbG8=\n', /./),
  config('two documents', 'limits: {}\n---\nlimits: {}\n', /document/i),
  config('bytes of zero', 'limits:\u0000 {}\n', /./),
  config('a byte order mark and Windows line ends', '\ufefflimits:\r\n  body_bytes: 1MiB\r\n'),
  config('JSON', '{"limits":{"body_bytes":"1MiB"}}'),
  config('numbers beyond all numbers', 'limits: { body_bytes: 1e999 }\n', /./),
  config('a number of 100,000 digits', () => `limits: { body_bytes: ${'9'.repeat(100_000)} }\n`, /./),
  config(
    'a pattern without end',
    'evaluators:\n  - use: output_contains\n    when: { input: { matches: "^(a+)+$" } }\n    options: { text: x }\n',
  ),
  config('nothing', ''),
];
