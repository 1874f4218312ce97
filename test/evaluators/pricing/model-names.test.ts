import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelNames } from '../../../evaluators/pricing/prices.ts';

const rows: readonly (readonly [name: string, ...shorter: readonly string[]])[] = [
  ['gpt-5-mini'],
  ['gpt-5-mini-2025-08-07', 'gpt-5-mini'],
  ['openai/gpt-5-mini', 'gpt-5-mini'],
  ['openai/gpt-5-mini-2025-08-07', 'gpt-5-mini-2025-08-07', 'openai/gpt-5-mini', 'gpt-5-mini'],
  ['openai:gpt-5-mini', 'gpt-5-mini'],
  ['openrouter/anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4.5', 'claude-sonnet-4.5'],
  ['accounts/fireworks/models/deepseek-v3', 'fireworks/models/deepseek-v3', 'models/deepseek-v3', 'deepseek-v3'],
  [
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic.claude-sonnet-4-5-20250929-v1:0',
    'us.anthropic.claude-sonnet-4-5-20250929',
    'anthropic.claude-sonnet-4-5-20250929',
    'claude-sonnet-4-5-20250929-v1:0',
    'us.anthropic.claude-sonnet-4-5',
    'anthropic.claude-sonnet-4-5',
    'claude-sonnet-4-5-20250929',
    'claude-sonnet-4-5',
  ],
  ['claude-sonnet-4@20250514', 'claude-sonnet-4'],
  ['claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
  ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet'],
  ['models/gemini-2.0-flash-001', 'models/gemini-2.0-flash', 'gemini-2.0-flash-001', 'gemini-2.0-flash'],
  // Neither another size or price, nor a version, nor a name that only looks like a provider.
  ['gpt-4.1-mini'],
  ['gpt-4-0613'],
  ['llama3.1:8b'],
  ['mistral-large-2407'],
  ['gemini-2.5-flash-preview-05-20'],
  [''],
];
for (const [name, ...shorter] of rows) {
  test(`model names: ${JSON.stringify(name)} may stand as ${shorter.length === 0 ? 'itself only' : shorter.join(', ')}`, () => {
    expect(modelNames(name)).toEqual([name, ...shorter]);
  });
}

test('model names: of any text there are few, itself first, each a part of it and none empty', () => {
  const part = fc.constantFrom('/', '.', ':', '-', 'us', 'gpt', '-2025-08-07', '-20250807', '@1', ':0', '-v1:0', '-latest', '4', 'é');
  const texts = fc.oneof(
    fc.string({ minLength: 1, maxLength: 300 }),
    fc.array(part, { minLength: 1, maxLength: 80 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const names = modelNames(text);
      return names[0] === text && names.length <= 81 && names.every((name) => name !== '' && text.includes(name));
    }),
  );
});
