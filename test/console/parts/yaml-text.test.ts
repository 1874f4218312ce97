import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { yamlText } from '../../../src/console/parts/yaml-text.ts';

test('yaml text: a configuration stands as people write it', () => {
  const configuration = {
    listen: { otlp_http: '127.0.0.1:4318', tokens: [{ name: 'agents', value: '…', may: ['ingest'] }] },
    evaluators: ['defaults', { use: 'tool_error', threshold: null, options: {} }],
    closing: { settle: '500ms' },
    redact: [],
    store: { url: 'sqlite:./data/runs.db', content: 'none', search: true, note: 'no' },
  };
  expect(yamlText(configuration)).toBe(
    [
      'listen:',
      '  otlp_http: "127.0.0.1:4318"',
      '  tokens:',
      '    - name: agents',
      '      value: "…"',
      '      may: ["ingest"]',
      'evaluators:',
      '  - defaults',
      '  - use: tool_error',
      '    threshold: null',
      '    options: {}',
      'closing:',
      '  settle: 500ms',
      'redact: []',
      'store:',
      '  url: sqlite:./data/runs.db',
      '  content: none',
      '  search: true',
      '  note: "no"',
      '',
    ].join('\n'),
  );
});

test('yaml text: YAML reads back every JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) => {
      const json = JSON.stringify(value);
      fc.pre(!json.includes('"__proto__"'));
      expect(JSON.stringify(parse(yamlText(value)))).toBe(JSON.stringify(JSON.parse(json)));
    }),
  );
});
