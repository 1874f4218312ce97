/** Entries that are proposed for real SDKs whose collectors are taken out: the configuration accepts them, and they read as evidence does. */
import { expect, test } from 'vitest';
import { configuredCollector } from '../../../collectors/configured/dialect.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { proposedDialects } from '../../../src/cli/inspect/proposed-dialect.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { claimsOf, type Claim } from '../../recordings/claims.ts';
import { byEvidence } from '../../recordings/left-out.ts';
import { contentsOf, ownRecordings, play } from '../../recordings/read.ts';
import { validators } from '../../builders/validators.ts';

/** One of each: SDKs with a built-in collector, and one that writes content into flattened keys. */
const names = [
  'js-ai-sdk-v5/sequential',
  'js-langfuse-openai/sequential',
  'js-langsmith-openai/sequential',
  'mlflow/trip',
  'js-genkit/sequential',
  'openlit-crewai/sequential',
  'traceloop-openai-agents/trip',
  'strands-agents/trip',
  'google-adk/trip',
  'java-spring-ai-2/sequential',
  'java-koog/sequential',
  'haystack/sequential',
  'lmnr-openai/sequential',
  'logfire-openai-agents/trip',
  'pydantic-ai/trip',
  'js-mastra/sequential',
  'openinference-langchain/trip',
];
const recordings = ownRecordings().filter(({ name }) => names.includes(name));

test('inspect --propose-dialect: every recording of the list is there', () => {
  expect(recordings.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

const accepted = new Set<string>();
test.each(recordings.map((recording) => [recording.name, recording] as const))(
  'inspect --propose-dialect: %s without its collector',
  (name, recording) => {
    const text = proposedDialects(contentsOf(recording).spans, byEvidence) ?? '';
    const { config, warnings } = loadConfig({ validators, file: 'proposed.yaml', text, env: {}, evaluators });
    expect(warnings).toEqual([]);
    const alone = claimsOf(recording.expected, play(recording, byEvidence).runs);
    const own = claimsOf(recording.expected, play(recording, [...config.dialects.map(configuredCollector), ...byEvidence]).runs);
    expect(count(own, 'right')).toBeGreaterThanOrEqual(count(alone, 'right'));
    expect(count(own, 'wrong')).toBeLessThanOrEqual(count(alone, 'wrong'));
    if (config.dialects.length > 0) accepted.add(name);
  },
);

test('inspect --propose-dialect: most of them get an entry that reads something', () => {
  expect(accepted.size).toBeGreaterThanOrEqual(10);
});

function count(claims: readonly Claim[], state: Claim['state']): number {
  return claims.filter((claim) => claim.state === state).length;
}
